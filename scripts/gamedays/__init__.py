"""The game day: a deployment that is broken on purpose, its alerts, the cures of the runbook."""
