"""Tests of the plugin Attachments: over HTTP, with bytes in GridFS of a real mongod."""
