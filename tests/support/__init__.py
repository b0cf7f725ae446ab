"""What tests share: people with tabs, processes, and a helper that applies events."""
