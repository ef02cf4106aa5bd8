"""Runs commands and measures them: wall and CPU time of the whole tree, the host's peak memory."""

import contextlib
import ctypes
import os
import resource
import subprocess
import time
from dataclasses import dataclass, field

PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans():
    """Makes this process the parent of descendants whose own parent ends before them.

    Without it, the CPU time of a helper that outlives its parent would count nowhere.
    """
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@dataclass
class Sample:
    """One run.

    wall: seconds from the start of the command to its end.
    cpu: seconds, user and system, of the command and of all its descendants.
    others: seconds of CPU that the rest of the machine used meanwhile.
    extra: figures that only some workloads have, by name.
    """

    wall: float
    cpu: float
    others: float
    extra: dict = field(default_factory=dict)

    def disturbance(self):
        """CPUs that the rest of the machine kept busy."""
        return self.others / self.wall if self.wall else 0.0

    def during(self, wall):
        """The same with the wall time of a part of the run.

        What others used is known of the whole only; it is spread evenly, so that the disturbance
        stays what it was.
        """
        others = self.others * wall / self.wall if self.wall else 0.0
        return Sample(wall, self.cpu, others, self.extra)


class Meter:
    """Measures from its making to `stop`."""

    def __init__(self):
        self.cpu = _children_seconds()
        self.machine = _machine_seconds()
        self.start = time.monotonic()

    def stop(self, excluded=0.0):
        """The sample so far, without `excluded` CPU seconds of descendants of no interest."""
        wall = time.monotonic() - self.start
        _reap_orphans()
        cpu = _children_seconds() - self.cpu
        others = max(0.0, _machine_seconds() - self.machine - cpu)
        return Sample(wall, cpu - excluded, others)


def run(command, environment, stdin=None):
    """Runs a command to its end.

    Returns its sample; None when it did not exit with 0.
    """
    meter = Meter()
    with start(command, environment, stdin) as process:
        process.wait()
    sample = meter.stop()
    return sample if process.returncode == 0 else None


@contextlib.contextmanager
def start(command, environment, stdin=None):
    """A running command whose output is thrown away; killed when it is left behind."""
    with open(stdin or os.devnull, "rb") as source:
        process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=source,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def peak_kib(listing, executable):
    """The greatest peak memory in KiB of the processes whose executable begins with `executable`.

    listing: path of what host-peak wrote. Returns None when there was no such process.
    """
    peaks = []
    with open(listing, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            _, peak, path = line.rstrip("\n").split(" ", 2)
            if path.startswith(executable):
                peaks.append(int(peak))
    return max(peaks, default=None)


def _children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _machine_seconds():
    """Busy CPU seconds of all processors since boot, steal included."""
    with open("/proc/stat", encoding="ascii") as lines:
        user, nice, system, _, _, irq, softirq, steal = map(int, next(lines).split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _reap_orphans():
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
