"""The queries and writes of operators' commands: retention, erasure, export, checks and repairs.
Their rules live in `actions/maintenance`."""
