"""Output for people: dashboard, report, pictures and texts."""
