"""System properties as of an x86_64 image of an API level."""

from __future__ import annotations

from collections.abc import Iterator

RELEASES = {
    26: "8.0.0",
    27: "8.1.0",
    28: "9",
    29: "10",
    30: "11",
    31: "12",
    32: "12",
    33: "13",
    34: "14",
    35: "15",
    36: "16",
}
BUILD_IDS = {26: "OSR1.180418.026", 28: "PSR1.180720.122", 29: "QSR1.210802.001", 30: "RSR1.201216.001"}
MAX_NAME_BYTES, MAX_VALUE_BYTES = 256, 92  # PROP_VALUE_MAX; `ro.` values may be longer
_SHELL_MAY_SET = ("debug.", "log.", "persist.log.", "persist.debug.", "sys.boot_", "vendor.debug.", "test.")

PRODUCT, DEVICE, MODEL = "webview_bridge_virtual", "virtual", "Virtual_Device"


class Properties:
    """System properties by name."""

    def __init__(self, *, api_level: int, serial: str, build_time: int = 1_700_000_000) -> None:
        release = RELEASES.get(api_level, str(api_level - 20))
        build_id = BUILD_IDS.get(api_level, "UE1A.230829.036")
        fingerprint = f"google/{PRODUCT}/{DEVICE}:{release}/{build_id}/1:userdebug/dev-keys"
        self._values: dict[str, str] = {
            "dalvik.vm.heapsize": "512m",
            "debug.force_rtl": "0",
            "dev.bootcomplete": "1",
            "gsm.operator.alpha": "",
            "init.svc.adbd": "running",
            "init.svc.bootanim": "stopped",
            "init.svc.zygote": "running",
            "net.bt.name": "Android",
            "persist.sys.locale": "en-US",
            "persist.sys.timezone": "Etc/UTC",
            "ro.adb.secure": "1",
            "ro.arch": "x86_64",
            "ro.boot.hardware": "virtual",
            "ro.boot.serialno": serial,
            "ro.bootloader": "unknown",
            "ro.build.characteristics": "emulator",
            "ro.build.date.utc": str(build_time),
            "ro.build.display.id": f"{PRODUCT}-userdebug {release} {build_id} 1 dev-keys",
            "ro.build.fingerprint": fingerprint,
            "ro.build.id": build_id,
            "ro.build.product": DEVICE,
            "ro.build.tags": "dev-keys",
            "ro.build.type": "userdebug",
            "ro.build.version.all_codenames": "REL",
            "ro.build.version.codename": "REL",
            "ro.build.version.incremental": "1",
            "ro.build.version.release": release,
            "ro.build.version.release_or_codename": release,
            "ro.build.version.sdk": str(api_level),
            "ro.build.version.security_patch": "2023-09-05",
            "ro.debuggable": "0",
            "ro.hardware": "virtual",
            "ro.kernel.qemu": "1",
            "ro.boot.qemu": "1",
            "ro.product.board": DEVICE,
            "ro.product.brand": "google",
            "ro.product.cpu.abi": "x86_64",
            "ro.product.cpu.abilist": "x86_64,arm64-v8a",
            "ro.product.cpu.abilist32": "",
            "ro.product.cpu.abilist64": "x86_64,arm64-v8a",
            "ro.product.device": DEVICE,
            "ro.product.first_api_level": str(api_level),
            "ro.product.locale": "en-US",
            "ro.product.manufacturer": "webview-bridge",
            "ro.product.model": MODEL,
            "ro.product.name": PRODUCT,
            "ro.secure": "1",
            "ro.serialno": serial,
            "ro.sf.lcd_density": "160",
            "ro.system.build.version.sdk": str(api_level),
            "ro.zygote": "zygote64",
            "service.adb.root": "0",
            "sys.boot_completed": "1",
            "sys.usb.config": "adb",
            "sys.usb.state": "adb",
        }

    def get(self, name: str, default: str = "") -> str:
        return self._values.get(name, default)

    def put(self, name: str, value: str) -> None:
        """Sets a property as the system does, without checks."""
        self._values[name] = value

    def shell_set(self, name: str, value: str) -> bool:
        """Sets a property as `setprop` does for the shell's uid; False if a device would refuse."""
        valid = bool(name) and len(name) <= MAX_NAME_BYTES and len(value.encode()) < MAX_VALUE_BYTES
        if not valid or not name.startswith(_SHELL_MAY_SET) or not name.replace("_", ".").replace("-", ".").isascii():
            return False
        self._values[name] = value
        return True

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(sorted(self._values.items()))
