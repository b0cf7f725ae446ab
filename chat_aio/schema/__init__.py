"""The shapes that come in over the wire and go out again, and the checks on them."""
