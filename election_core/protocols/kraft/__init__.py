"""Kafka in KRaft mode: the metadata quorum of the controllers, and the partitions that brokers lead."""
