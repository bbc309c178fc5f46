"""A process per named session that keeps its tabs and refs alive between calls of the command line."""
