"""What was measured, and on what."""

import os
import platform
import subprocess


def describe(memtrace):
    """Names and values, for people."""
    return {
        "processor": "%s, %d CPUs" % (_processor(), os.cpu_count()),
        "system": ", ".join([_distribution(), _linux(), " ".join(platform.libc_ver())]),
        "memtrace": _first_line([memtrace, "--version"]),
        "heaptrack": _first_line(["heaptrack", "--version"]),
        "valgrind": _first_line(["valgrind", "--version"]),
    }


def _first_line(command):
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "not installed"
    return run.stdout.strip().split("\n")[0]


def _processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def _linux():
    return "Linux " + platform.release()


def _distribution():
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return "unknown distribution"
