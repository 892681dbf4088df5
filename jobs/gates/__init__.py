"""What the gates found, for people."""
