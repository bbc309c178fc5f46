"""One harness for every number of the project; see README.md."""
