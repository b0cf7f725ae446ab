"""Live delivery: from the database's change stream to every open stream of this process."""
