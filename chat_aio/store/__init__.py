"""How MongoDB keeps it: the only package that imports pymongo."""
