"""The device's shell: a table of commands over the virtual system. Nothing is ever run on this machine."""
