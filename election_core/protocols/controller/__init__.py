"""Broker sets under the RocketMQ 5 controller: ``log`` folds brokers' and controllers' logs, ``rules`` judges."""
