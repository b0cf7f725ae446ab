"""The measurements of `scripts/bench`. A new row is a decorated function in a module of cli.ROWS.

Every row compares two things side by side in short alternating rounds, or counts CPU per unit of
work, so that its figures are meaningful even on a busy or slow machine.
"""
