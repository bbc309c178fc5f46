"""The real adb program finds a device, and its shell answers as a device's does."""

from __future__ import annotations

import subprocess

from tests.virtual_device.conftest import Adb


def test_adb_lists_it_with_its_product_and_model(adb: Adb) -> None:
    listed = adb("devices", "-l").stdout.decode()
    assert f"{adb.serial} " in listed
    assert "device product:webview_bridge_virtual model:Virtual_Device device:virtual" in listed


def test_getprop_answers_one_name_and_the_table(adb: Adb) -> None:
    assert adb.shell("getprop ro.build.version.sdk") == "34\n"
    assert adb.shell("getprop sys.boot_completed") == "1\n"
    assert adb.shell("getprop no.such.name") == "\n"
    assert "[ro.build.version.release]: [14]\n" in adb.shell("getprop")


def test_exit_codes_and_both_outputs_come_through(adb: Adb) -> None:
    done = adb("shell", "echo out; echo err >&2; exit 42")
    assert (done.returncode, done.stdout, done.stderr) == (42, b"out\n", b"err\n")


def test_standard_input_comes_through_and_ends(adb: Adb) -> None:
    body = bytes(range(256)) * 4000
    assert adb("shell", "cat", stdin=body).stdout == body
    assert adb("shell", "wc -c", stdin=body).stdout == b"1024000\n"


def test_a_shell_without_a_command_reads_lines(adb: Adb) -> None:
    done = adb("shell", stdin=b"echo one\ncd /sdcard\npwd\nexit 9\necho never\n")
    assert (done.returncode, done.stdout) == (9, b"one\n/storage/emulated/0\n")


def test_exec_out_is_not_touched_by_a_terminal(adb: Adb) -> None:
    assert adb("exec-out", "printf 'a\\r\\nb\\n'").stdout == b"a\r\nb\n"


def test_a_terminal_gets_carriage_returns(adb: Adb) -> None:
    assert adb("shell", "-tt", "echo x").stdout == b"x\r\n"


def test_the_abstract_sockets_table_has_its_columns(adb: Adb) -> None:
    header, *rows = adb.shell("cat /proc/net/unix").splitlines()
    assert header.split() == ["Num", "RefCount", "Protocol", "Flags", "Type", "St", "Inode", "Path"]
    assert [row.split()[3:6] for row in rows] == [["00010000", "0001", "01"]] * len(rows)


def test_packages_are_listed_by_kind(adb: Adb) -> None:
    assert adb.shell("pm list packages -3") == "package:dev.webviewbridge.host\n"
    assert "package:com.android.shell\n" in adb.shell("pm list packages -s")
    assert (
        adb.shell("pm path com.android.shell") == "package:/system/priv-app/com.android.shell/com.android.shell.apk\n"
    )
    assert adb("shell", "pm path org.nowhere").returncode == 1


def test_commands_that_a_device_has_not_are_not_run_here(adb: Adb) -> None:
    for command in ("python3 -c 'print(1)'", "/bin/ls /", "/usr/bin/id", "bash -c id", "curl http://127.0.0.1"):
        done = adb("shell", command)
        assert done.returncode in (126, 127), command
        assert done.stdout == b""


def test_settings_are_kept(adb: Adb) -> None:
    adb.shell("settings put global http_proxy 127.0.0.1:8080")
    assert adb.shell("settings get global http_proxy") == "127.0.0.1:8080\n"
    adb.shell("settings delete global http_proxy")
    assert adb.shell("settings get global http_proxy") == "null\n"
    assert adb("shell", "settings get nowhere x").returncode == 255


def test_the_screen_s_size_can_be_overridden_and_reset(adb: Adb) -> None:
    assert adb.shell("wm size") == "Physical size: 412x915\n"
    adb.shell("wm size 800x600")
    assert adb.shell("wm size").endswith("Override size: 800x600\n")
    adb.shell("wm size reset")
    assert adb.shell("wm size") == "Physical size: 412x915\n"


def test_a_service_that_does_not_exist_is_not_started(adb: Adb) -> None:
    done = adb("shell", "am start-foreground-service --user 0 -n org.nowhere/.Work")
    assert done.stdout.endswith(b"Error: Not found; no service started.\n")
    assert done.returncode == 255


def test_the_log_can_be_written_read_filtered_and_followed(adb: Adb) -> None:
    adb.shell("log -t Marker 'a line'")
    assert "I Marker  : a line" in adb.shell("logcat -d")
    assert adb.shell("logcat -d -s Other:V") == "--------- beginning of main\n"
    with subprocess.Popen(adb.arguments("shell", "logcat -v raw -s Follow"), stdout=subprocess.PIPE) as follower:
        assert follower.stdout is not None
        assert follower.stdout.readline() == b"--------- beginning of main\n"
        adb.shell("log -t Follow later")
        assert follower.stdout.readline() == b"later\n"
        follower.kill()


def test_root_is_refused_politely(adb: Adb) -> None:
    assert b"adbd cannot run as root in production builds" in adb("root").stdout


def test_an_unknown_service_is_closed(adb: Adb) -> None:
    done = adb("jdwp")
    assert done.returncode != 0 or done.stdout == b""
