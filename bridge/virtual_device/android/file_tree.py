"""The initial content of the device's file system."""

from __future__ import annotations

WRITABLE = ("/data/local/tmp", "/storage/emulated/0")

ALIASES = {
    "/sdcard": "/storage/emulated/0",
    "/mnt/sdcard": "/storage/emulated/0",
    "/storage/self/primary": "/storage/emulated/0",
    "/data/user/0": "/data/data",
    "/bin": "/system/bin",
    "/etc": "/system/etc",
    "/d": "/sys/kernel/debug",
}

# The shell may open known names below these, but not list them (SELinux and mode 0771 on a phone).
FORBIDDEN = ("/data", "/data/data", "/data/app", "/data/system", "/data/misc")

READ_ONLY_FOLDERS = frozenset(
    {
        "/",
        "/apex",
        "/data",
        "/data/app",
        "/data/data",
        "/data/local",
        "/data/misc",
        "/data/system",
        "/dev",
        "/mnt",
        "/proc",
        "/proc/net",
        "/product",
        "/storage",
        "/storage/emulated",
        "/storage/self",
        "/sys",
        "/system",
        "/system/app",
        "/system/bin",
        "/system/etc",
        "/system/priv-app",
        "/vendor",
    }
)

SHARED_FOLDERS = ("Alarms", "Android", "DCIM", "Documents", "Download", "Movies", "Music", "Pictures")
