"""What all rooms speak of: events, facts, rows, the catalogue of rules, and quorum arithmetic."""
