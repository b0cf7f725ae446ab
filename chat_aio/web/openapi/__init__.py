"""The API's description in OpenAPI 3.1, generated from the code, so nothing is written twice."""
