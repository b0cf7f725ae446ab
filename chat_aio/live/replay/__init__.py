"""Replays: what a reconnecting client has missed, from the replay buffer or from storage."""
