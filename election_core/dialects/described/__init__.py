"""Programs that are described by a table of their texts and effects, without a dialect of their own."""
