"""`chat-aio doctor`: checks a deployment, point by point, and gives advice."""
