"""Measures programs plainly and under recorders. See scripts/bench and docs/performance.md."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import machine
import measure
import processes
import tables
import tools
import workloads

QUICK = ["python3", "sqlite3", "cc1plus", "stress-1-20", "stress-2-20"]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="bench",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Times programs plainly and under recorders, in turn, and prints Markdown.",
        epilog="""examples:
  scripts/bench --quick
  scripts/bench python3 cc1plus --tools plain,memtrace,heaptrack
  scripts/bench --json all.json && scripts/bench --from all.json""",
    )
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="default: all; see --list")
    parser.add_argument("--pairs", type=int, default=7, help="rounds per tool (default 7)")
    parser.add_argument(
        "--slow-pairs", type=int, default=1, help="rounds under Valgrind, 0 for none (default 1)")
    parser.add_argument("--quick", action="store_true", help="3 rounds, few programs, no Valgrind")
    parser.add_argument(
        "--calm", type=float, metavar="CPUS",
        help="repeat a run while other processes take more CPUs than this, 5 times at most")
    parser.add_argument("--tools", help="comma-separated; default: all that are installed")
    parser.add_argument("--memtrace", help="executable to measure; default: a release build")
    parser.add_argument("--json", metavar="FILE", help="also write all samples to FILE")
    parser.add_argument("--from", metavar="FILE", dest="sources", action="append", default=[],
                        help="print the tables of this document; several are joined")
    parser.add_argument("--list", action="store_true", help="list workloads and tools")
    options = parser.parse_args(arguments)
    if options.pairs < 1 or options.slow_pairs < 0:
        parser.error("the number of pairs has to be positive")
    if options.quick:
        options.pairs, options.slow_pairs = min(options.pairs, 3), 0
        options.workloads = options.workloads or QUICK
    if options.memtrace and not shutil.which(options.memtrace):
        parser.error("--memtrace: there is no executable %s" % options.memtrace)
    unknown = set(options.workloads) - set(workloads.names())
    if unknown:
        parser.error("no workload %s; --list names them" % ", ".join(sorted(unknown)))
    return parser, options


def build(root):
    """A release build; made when the sources have changed, which takes minutes."""
    launcher = os.path.join(root, "scripts/memtrace")
    if subprocess.run([launcher, "--version"], stdout=subprocess.DEVNULL, check=False).returncode:
        raise SystemExit("bench: memtrace cannot be built")
    return os.path.join(root, ".build/release/memtrace")


def select_tools(parser, options, scratch):
    every = tools.all_tools(options.memtrace, scratch)
    if not options.tools:
        return every
    wanted = options.tools.split(",")
    unknown = set(wanted) - {tool.name for tool in every}
    if unknown:
        parser.error("no tool %s; --list names them" % ", ".join(sorted(unknown)))
    return [tool for tool in every if tool.name in wanted or tool.name == tools.PLAIN]


def measure_all(options, selected, programs, scratch):
    builder = workloads.Builder(programs, scratch)
    host_peak = os.path.join(scratch, "host-peak")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "host-peak.c")
    subprocess.run(["gcc", "-O2", "-Wall", source, "-o", host_peak], check=True)
    document = {"machine": machine.describe(options.memtrace), "workloads": []}
    for name in workloads.names():
        if not options.workloads or name in options.workloads:
            workload = workloads.make(name, builder)
            chosen, result = measure.begin(workload, selected, options.slow_pairs)
            document["workloads"].append(result)
            try:
                measure.measure(workload, chosen, result, options, host_peak, say)
            finally:
                # A long run that is interrupted keeps what it has.
                save(document, options.json)
    return document


def save(document, path):
    if path:
        with open(path, "w", encoding="utf-8") as output:
            json.dump(document, output, indent=1)
            output.write("\n")


def join(paths):
    """One document of several. Rounds of the same workload are put one after the other."""
    machines, found = {}, {}
    for path in paths:
        with open(path, encoding="utf-8") as source:
            document = json.load(source)
        machines.update(document["machine"])
        for workload in document["workloads"]:
            name = workload["name"]
            found[name] = measure.join(found[name], workload) if name in found else workload
    ordered = [found[name] for name in workloads.names() if name in found]
    return {"machine": machines, "workloads": ordered}


def say(text):
    print("bench: " + text, file=sys.stderr, flush=True)


def main(root, arguments):
    parser, options = parse(arguments)
    processes.adopt_orphans()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        if options.list:
            print("workloads: " + " ".join(workloads.names()))
            print("tools: " + ", ".join(t.name for t in tools.all_tools("memtrace", scratch)))
            return
        if options.sources:
            try:
                document = join(options.sources)
            except (OSError, ValueError, KeyError) as error:
                parser.error("--from: no document of --json: %s" % error)
            save(document, options.json)
        else:
            select_tools(parser, options, scratch)
            options.memtrace = options.memtrace or build(root)
            selected = select_tools(parser, options, scratch)
            programs = os.path.join(root, "Benchmarks/Programs")
            document = measure_all(options, selected, programs, scratch)
    print(tables.markdown(document), end="")


main(sys.argv[1], sys.argv[2:])
