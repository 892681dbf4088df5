"""How brokers answer those who write."""
