"""Standing proofs of the guarantees: what was tried, by command, and what it showed."""
