"""Taking the pictures of docs/images."""
