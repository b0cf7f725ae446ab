"""`python -m chat_aio` is `chat-aio`."""

from chat_aio.cli import main

main(prog_name="chat-aio")
