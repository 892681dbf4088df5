"""Kafka in KRaft mode: what controllers and brokers print."""
