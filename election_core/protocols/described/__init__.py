"""Leaders by term of programs that a table of texts describes, including HashiCorp's Raft library."""
