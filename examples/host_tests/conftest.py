"""The conftest.py that a host needs."""

pytest_plugins = ["chat_aio.testing"]
