"""Redis: who was master of which data, by the words of servers, sentinels and nodes of a cluster."""
