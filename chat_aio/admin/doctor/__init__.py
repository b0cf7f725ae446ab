"""`chat-aio doctor`: looks at a deployment, point by point, and says what to do."""
