"""Storage in MongoDB: the only package that imports pymongo."""
