"""Leaders of terms of programs that a table describes, and of HashiCorp's Raft library, which is such a table."""
