"""The rules, one file a protocol: how its log lines become facts, and what its facts must satisfy."""
