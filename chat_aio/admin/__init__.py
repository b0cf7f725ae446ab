"""The command line `chat-aio`: serving, and the operators' commands over the chat's database."""
