"""Programs that a table describes: their texts and what these do, without a dialect of their own."""
