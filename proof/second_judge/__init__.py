"""A second judge: SQL over events, from the papers and the systems' sources, that shares no rule with the core."""
