"""Leaders by term of programs that a table of texts describes, and of HashiCorp's Raft library, which is such a
table."""
