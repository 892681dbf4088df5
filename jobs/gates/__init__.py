"""What must hold for the tables: the checks, who is stopped by them, and what they found, for people."""
