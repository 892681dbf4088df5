"""Persistent broker ids (RocketMQ 5.1.1 and later): ``log`` folds their allocation, ``rules`` judges it."""
