"""`chat-aio demo`: a host with a page and sample users, which uses public names only."""
