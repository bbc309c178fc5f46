"""Devices shared by concurrent work: leases on one machine, and the same jobs on a Ray cluster."""
