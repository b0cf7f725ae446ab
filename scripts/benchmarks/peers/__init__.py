"""Other servers, measured next to the chat in the same minutes: `scripts/bench --peers`."""
