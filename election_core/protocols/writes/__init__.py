"""How brokers answer writes."""
