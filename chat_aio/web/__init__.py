"""How it is called: routes, requests, replies, and the stream over HTTP. No rules live here."""
