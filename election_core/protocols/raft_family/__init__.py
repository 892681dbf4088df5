"""What Raft, DLedger and ZAB share: members vote for one leader of a term, and a majority commits."""
