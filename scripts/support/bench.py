"""Times programs plainly and under recorders, in turn, and prints medians of pairs.

Usage: bench.py MEMTRACE PROGRAMS-FOLDER PAIRS [WORKLOAD ...]

Each round runs every tool once, so that a drift of the machine meets all alike. "Added" is the
tool's time minus the plain time of the same round; the ratios are of added times, pair by pair.
"""

import glob
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def build(source, output, *flags):
    subprocess.run(["gcc", "-O2", "-g", *flags, source, "-o", output], check=True)


def workloads(programs, scratch):
    """Name, command, extra environment, file for standard input."""
    stress = os.path.join(scratch, "stress")
    build(os.path.join(programs, "stress.c"), stress, "-pthread")
    cc1plus = subprocess.run(
        ["g++", "-print-prog-name=cc1plus"], check=True, capture_output=True, text=True
    ).stdout.strip()
    source = os.path.join(programs, "work.cpp")
    yield "python3", ["/usr/bin/python3", os.path.join(programs, "work.py")], {
        "PYTHONMALLOC": "malloc"
    }, None
    yield "sqlite3", ["sqlite3", ":memory:"], {}, os.path.join(programs, "work.sql")
    yield "cc1plus -O2", [cc1plus, "-quiet", "-O2", "-std=c++17", source, "-o", "/dev/null"], {}, None
    yield "stress, 1 thread", [stress, "1", "3000000", "20"], {}, None
    yield "stress, 2 threads", [stress, "2", "1500000", "20"], {}, None


class Tool:
    def __init__(self, name, prefix):
        self.name, self.prefix = name, prefix


def tools(memtrace, scratch):
    yield Tool("plain", [])
    yield Tool("memtrace", [memtrace, "record", "-q", "-o", os.path.join(scratch, "m.mtrace"), "--"])
    if shutil.which("heaptrack"):
        output = os.path.join(scratch, "h")
        yield Tool("heaptrack -r", ["heaptrack", "-r", "-o", output])
        yield Tool("heaptrack", ["heaptrack", "-o", output])


def run(command, environment, stdin):
    """Wall seconds, and CPU seconds of the whole tree."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    with open(stdin or os.devnull) as source:
        subprocess.run(
            command,
            env={**os.environ, **environment},
            stdin=source,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu


def measure(memtrace, name, command, environment, stdin, pairs, scratch):
    results = {}
    size = 0
    for round_number in range(pairs + 1):
        for tool in tools(memtrace, scratch):
            figures = run(tool.prefix + command, environment, stdin)
            for path in glob.glob(os.path.join(scratch, "[mh]*")):
                if path.endswith(".mtrace"):
                    size = os.path.getsize(path)
                os.remove(path)
            if round_number > 0:
                results.setdefault(tool.name, []).append(figures)
    return results, size


def added(results, tool, index):
    return [t[index] - p[index] for t, p in zip(results[tool], results["plain"])]


def ratio(results, other, index):
    if other not in results:
        return "-"
    pairs = zip(added(results, "memtrace", index), added(results, other, index))
    return "%.2f" % statistics.median(a / b for a, b in pairs if b > 0)


def main():
    memtrace, programs, pairs, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    print("Added wall and CPU seconds, medians of %d rounds; ratios are memtrace's added time" % pairs)
    print("divided by heaptrack's, medians of pairs. memtrace takes a stack on every free as well.")
    print()
    print("| program | plain s | memtrace + | heaptrack -r + | heaptrack + | wall / -r | wall / default | CPU / -r | CPU / default | trace |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for name, command, environment, stdin in workloads(programs, scratch):
            if wanted and not any(name.startswith(w) for w in wanted):
                continue
            results, size = measure(memtrace, name, command, environment, stdin, pairs, scratch)
            cells = [name, "%.2f" % statistics.median(r[0] for r in results["plain"])]
            for tool in ("memtrace", "heaptrack -r", "heaptrack"):
                cells.append(
                    "%.2f" % statistics.median(added(results, tool, 0)) if tool in results else "-"
                )
            for index in (0, 1):
                cells += [ratio(results, "heaptrack -r", index), ratio(results, "heaptrack", index)]
            cells.append("%.1f MB" % (size / 1e6))
            print("| " + " | ".join(cells) + " |", flush=True)


main()
