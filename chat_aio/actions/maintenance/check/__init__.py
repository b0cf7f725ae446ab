"""What must hold in a chat's database, by what it is about."""
