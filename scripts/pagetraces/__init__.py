"""Measuring the demo's page in Chromium, with Chromium's tracing."""
