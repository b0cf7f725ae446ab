"""How a change travels: from the database's change stream to every open stream."""
