"""`chat-aio serve`: the app that it makes, the processes that serve it, and their log."""
