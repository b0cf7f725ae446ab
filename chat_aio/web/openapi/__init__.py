"""The API described in OpenAPI 3.1, made of what the code says; nothing is described twice."""
