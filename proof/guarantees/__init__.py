"""Each guarantee with its proof, and with what breaks it on purpose."""
