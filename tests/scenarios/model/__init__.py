"""The contract once more, in dicts and lists, and a machine that holds the service against it."""
