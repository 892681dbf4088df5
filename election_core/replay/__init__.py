"""Entry points: sources to facts, groups to rows, and the checkpoints that one night leaves for the next."""
