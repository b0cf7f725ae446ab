"""The page and the sample users of `chat-aio demo`: a host like any other, on public names."""
