"""What `scripts/bench` measures. A new row is a decorated function in a module of rows (cli.ROWS).

Each row compares two things side by side in short alternating rounds, or counts CPU per unit of
work, so that its figures mean something on a busy or slow machine too.
"""
