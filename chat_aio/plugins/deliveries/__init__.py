"""The common parts of plugins that deliver something at least once and in order: a lease with a
position, a reader of changes, lanes, tries, and signed HTTP requests."""
