"""Measuring the demo's page in Chromium, by its own tracing."""
