"""Other servers, measured beside the chat in the same minutes: `scripts/bench --peers`."""
