"""What a host's own conftest.py says."""

pytest_plugins = ["chat_aio.testing"]
