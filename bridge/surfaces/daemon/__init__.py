"""Keeps a named session's tabs and refs alive between commands, in a process of its own."""
