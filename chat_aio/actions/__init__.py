"""What the chat does: the only package with rules, the same for both doors."""
