"""What people look at: dashboard, report, pictures and texts."""
