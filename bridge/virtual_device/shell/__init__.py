"""The device's shell: a table of commands over the virtual system. Nothing is ever run on this machine."""

from bridge.virtual_device.shell import commands as _commands
from bridge.virtual_device.shell.call import ShellExit
from bridge.virtual_device.shell.shell import Shell, Streams

__all__ = ["Shell", "ShellExit", "Streams"]

assert _commands  # importing the package fills the table of commands
