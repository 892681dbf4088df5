"""From events to verdicts: the plan of a replay, checkpoints, and the two passes through the core."""
