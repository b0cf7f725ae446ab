"""Observers of a chat: their interface, and those for Prometheus and OpenTelemetry."""
