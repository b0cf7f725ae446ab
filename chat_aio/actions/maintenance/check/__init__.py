"""The invariants of a chat's database, by subject."""
