"""The queries and writes of what operators do: retention, erasure, export, checks and repairs. The
rules about them live in `actions/maintenance`."""
