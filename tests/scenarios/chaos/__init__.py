"""Faults of all kinds while people talk: nothing is lost, doubled, or told to strangers."""
