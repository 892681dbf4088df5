"""Redis and Valkey: what servers, sentinels and nodes of a cluster print about who is master."""
