"""What Bully and ring elections share: the highest id of those that live leads."""
