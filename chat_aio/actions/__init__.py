"""What the chat does: the only package with rules, shared by HTTP and the server API."""
