"""What the chat does: the only package with rules, which HTTP and the server API share."""
