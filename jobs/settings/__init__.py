"""``conf/pipeline.yaml``."""
