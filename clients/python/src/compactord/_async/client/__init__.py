"""The public classes: clients, sessions and embedded daemons."""
