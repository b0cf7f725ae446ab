"""What the chat knows of plugins: their base class, files and verdicts."""
