"""From files to rows: what lies in the landing zone, how a file is read, and what of it is kept."""
