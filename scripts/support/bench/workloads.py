"""The programs that are measured. Those that are ours are built into a scratch folder."""

import os
import shutil
import subprocess
from dataclasses import dataclass, field

import tools

THREADS = (1, 2, 4, 8)
DEPTHS = (5, 20, 60)
# Half as many take so short that what an event costs differs by a sixth from run to run.
STRESS_PAIRS = 16_000_000


@dataclass
class Workload:
    """command and its environment; stdin: path of a file.

    executable: path of the process whose memory counts as the host's.
    threads, depth: of the stress only. is_server: run by server.py. skips_slow: takes minutes under
    Valgrind. limits: the greatest number of rounds of a tool, by name.
    """

    name: str
    command: list
    environment: dict = field(default_factory=dict)
    stdin: str = None
    executable: str = ""
    threads: int = 0
    depth: int = 0
    is_server: bool = False
    skips_slow: bool = False
    limits: dict = field(default_factory=dict)

    def __post_init__(self):
        self.executable = os.path.realpath(shutil.which(self.executable or self.command[0]))


class Builder:
    """Makes programs from sources, each once, when first asked for."""

    def __init__(self, programs, scratch):
        self.programs, self.scratch = programs, scratch

    def source(self, name):
        return os.path.join(self.programs, name)

    def make(self, output, *command):
        path = os.path.join(self.scratch, output)
        if not os.path.exists(path):
            subprocess.run([*command, "-o", path], check=True)
        return path

    def c_program(self, name, *flags):
        source = self.source(name + ".c")
        return self.make(name, "gcc", "-O2", "-g", *flags, source)

    def swift_program(self, name):
        return self.make(name + "-swift", "swiftc", "-O", "-g", self.source(name + ".swift"))


def names():
    """All workloads that can be asked for, in the order of the tables."""
    stress = [_stress_name(threads, depth) for depth in DEPTHS for threads in THREADS]
    return ["python3", "sqlite3", "cc1plus", "swift", "redis", "churn", "recursion", *stress]


def make(name, builder):
    """The workload of that name, ready to run."""
    if name.startswith("stress-"):
        return _stress(name, builder)
    return {
        "python3": _python3,
        "sqlite3": _sqlite3,
        "cc1plus": _cc1plus,
        "swift": _swift,
        "redis": _redis,
        "churn": _churn,
        "recursion": _recursion,
    }[name](name, builder)


def _python3(name, builder):
    command = ["/usr/bin/python3", builder.source("work.py")]
    return Workload(name, command, {"PYTHONMALLOC": "malloc"})


def _sqlite3(name, builder):
    return Workload(name, ["sqlite3", ":memory:"], stdin=builder.source("work.sql"))


def _cc1plus(name, builder):
    cc1plus = subprocess.run(
        ["g++", "-print-prog-name=cc1plus"], check=True, capture_output=True, text=True
    ).stdout.strip()
    # cc1plus by itself does not know where headers are.
    source = builder.make("work.ii", "g++", "-std=c++17", "-E", builder.source("work.cpp"))
    options = ["-quiet", "-fpreprocessed", "-O2", "-std=c++17"]
    return Workload(name, [cc1plus, *options, source, "-o", "/dev/null"])


def _swift(name, builder):
    return Workload(name, [builder.swift_program("work"), "200"])


def _redis(name, builder):
    # The socket's path has to be short: 107 bytes at most.
    socket = os.path.join(builder.scratch, "redis")
    options = ["--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no"]
    return Workload(name, ["redis-server", *options], is_server=True)


def _churn(name, builder):
    # heaptrack's interpreter takes half a minute for it.
    limits = {tools.HEAPTRACK: 3}
    return Workload(name, [builder.c_program("churn"), "200"], skips_slow=True, limits=limits)


def _recursion(name, builder):
    return Workload(name, [builder.c_program("recursion"), "40", "30000"])


def _stress_name(threads, depth):
    return "stress-%d-%d" % (threads, depth)


def _stress(name, builder):
    threads, depth = map(int, name.split("-")[1:])
    pairs = STRESS_PAIRS // threads
    command = [builder.c_program("stress", "-pthread"), str(threads), str(pairs), str(depth)]
    return Workload(name, command, threads=threads, depth=depth)
