"""What the scripts for daily work are made of: each does its work on the database alone, through
the package's own actions and store."""
