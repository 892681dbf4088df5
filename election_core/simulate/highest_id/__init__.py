"""What worlds of Bully and of rings share: canonical events, stories, and what is true of them."""
