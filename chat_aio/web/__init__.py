"""The HTTP side: routes, requests, replies and the stream. It holds no rules of the chat."""
