"""From events to verdicts: what is new, what former nights left, and the two passes through the core."""
