"""What programs hold: clients, sessions with all that they can do, and embedded daemons."""
