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
    # cc1plus by itself does not know where headers are.
    source = os.path.join(scratch, "work.ii")
    headers = os.path.join(programs, "work.cpp")
    subprocess.run(["g++", "-std=c++17", "-E", headers, "-o", source], check=True)
    yield "python3", ["/usr/bin/python3", os.path.join(programs, "work.py")], {
        "PYTHONMALLOC": "malloc"
    }, None
    yield "sqlite3", ["sqlite3", ":memory:"], {}, os.path.join(programs, "work.sql")
    yield "cc1plus -O2", [
        cc1plus, "-quiet", "-fpreprocessed", "-O2", "-std=c++17", source, "-o", "/dev/null"
    ], {}, None
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
        # Interpreting while recording takes Debian's heaptrack minutes and gigabytes on cc1plus.
        if os.environ.get("BENCH_DEFAULT_HEAPTRACK") == "1":
            yield Tool("heaptrack", ["heaptrack", "-o", output])


def run(command, environment, stdin):
    """Wall seconds, and CPU seconds of the whole tree; None when the command failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    with open(stdin or os.devnull) as source:
        result = subprocess.run(
            command,
            env={**os.environ, **environment},
            stdin=source,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    wall = time.monotonic() - start
    if result.returncode != 0:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu


def measure(memtrace, name, command, environment, stdin, pairs, scratch):
    results = {}
    size = 0
    for round_number in range(pairs + 1):
        for tool in tools(memtrace, scratch):
            # heaptrack ends with SIGPIPE now and then: another try, then a gap.
            figures = run(tool.prefix + command, environment, stdin) or run(
                tool.prefix + command, environment, stdin
            )
            if figures is None and not tool.name.startswith("heaptrack"):
                sys.exit("%s failed under %s" % (name, tool.name))
            for path in glob.glob(os.path.join(scratch, "[mh]*")):
                if path.endswith(".mtrace"):
                    size = os.path.getsize(path)
                os.remove(path)
            if round_number > 0:
                results.setdefault(tool.name, []).append(figures)
    return results, size


def added(results, tool, index):
    """Per round, the tool's time minus the plain time; None where the tool failed."""
    rounds = zip(results.get(tool, []), results["plain"])
    return [t and t[index] - p[index] for t, p in rounds]


def median(values):
    known = [value for value in values if value is not None]
    return "%.2f" % statistics.median(known) if known else "-"


def ratio(results, other, index):
    pairs = zip(added(results, "memtrace", index), added(results, other, index))
    return median(a / b for a, b in pairs if b)


def main():
    memtrace, programs, pairs, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    print("Added wall and CPU seconds, medians of %d rounds; ratios are memtrace's added time" % pairs)
    print("divided by heaptrack's, medians of pairs. memtrace takes a stack on every free as well.")
    print()
    columns = "program|plain s|memtrace +|heaptrack -r +|heaptrack +"
    columns += "|wall / -r|wall / default|CPU / -r|CPU / default|trace"
    print("| " + columns.replace("|", " | ") + " |")
    print("|" + "---|" * len(columns.split("|")))
    with tempfile.TemporaryDirectory() as scratch:
        for name, command, environment, stdin in workloads(programs, scratch):
            if wanted and not any(name.startswith(w) for w in wanted):
                continue
            results, size = measure(memtrace, name, command, environment, stdin, pairs, scratch)
            cells = [name, median(wall for wall, _ in results["plain"])]
            for tool in ("memtrace", "heaptrack -r", "heaptrack"):
                cells.append(median(added(results, tool, 0)))
            for index in (0, 1):
                cells += [ratio(results, "heaptrack -r", index), ratio(results, "heaptrack", index)]
            cells.append("%.1f MB" % (size / 1e6))
            print("| " + " | ".join(cells) + " |", flush=True)


main()
