"""`python -m chat_aio` is `chat-aio`."""

from chat_aio.admin.cli import main

main(prog_name="chat-aio")
