"""Makes `python -m chat_aio` the same as `chat-aio`."""

from chat_aio.admin.cli import main

main(prog_name="chat-aio")
