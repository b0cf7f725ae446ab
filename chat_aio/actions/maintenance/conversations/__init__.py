"""Moving conversations between deployments, and from other systems, as lines of JSON."""
