"""The device's shell: a table of commands that read and change the virtual system. Nothing is ever run on this machine."""
