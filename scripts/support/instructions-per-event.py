"""Prints what a longer run executes more than a shorter one, per event, by part, file, function.

Arguments: two outputs of callgrind and the number of events between them. Inlined code counts to
the file it was written in. The format: https://valgrind.org/docs/manual/cl-format.html
"""

import collections
import os
import re
import sys

# A name may be given in full once, "(3) name", and by its number "(3)" afterwards.
POSITION = re.compile(r"(c?)(fn|fl|fi|fe|ob)=\((\d+)\)(?: (.*))?$")
COST = re.compile(r"[+*-]?\d* (\d+)$")

SOURCES = os.path.join(os.path.dirname(__file__), "../../Sources")
RECORDER_FILES = {
    file
    for target in ("CInterpose", "CTraceFormat")
    for _, _, files in os.walk(os.path.join(SOURCES, target))
    for file in files
}

# What the files of the recorder are for, by the beginning of their names; the first that fits.
PARTS = {
    "stack: walk and cache": (
        "unwind", "stack_bounds", "eh_frame", "epilogue", "image_map", "libunwind_backend"),
    "stack: its ID": ("stack_",),
    "types": ("type_",),
    "retains and releases": ("refcount", "swift_runtime"),
    "sampling": ("sampl",),
    "encoding": ("event_", "memtrace_", "varint"),
    "trace file": ("trace_file", "meta_writer"),
    "clock": ("clock",),
    "who had the block last": ("block_owner",),
    "hooks and dispatch": (
        "interpose", "record", "hook", "enter", "tls", "thread_state", "arena", "real"),
}
OTHER_FILES = "other files of the recorder"
OTHER_PART = "the program and the C library"


def check_parts():
    """Fails on a name that no file of the recorder has any more."""
    for part, prefixes in PARTS.items():
        for prefix in prefixes:
            if not any(file.startswith(prefix) for file in RECORDER_FILES):
                sys.exit("%s: no file begins with %s" % (part, prefix))


def part_of(file):
    if file not in RECORDER_FILES:
        return OTHER_PART
    found = (part for part, prefixes in PARTS.items() if file.startswith(prefixes))
    return next(found, OTHER_FILES)


class Profile:
    """Self cost of an output: instructions by (file, function with its object)."""

    def __init__(self, path):
        self.costs = collections.Counter()
        self._names = {}
        self._file = self._function = self._object = ""
        self._is_call = False
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                self._read(line.rstrip("\n"))

    def _read(self, line):
        if position := POSITION.match(line):
            self._set_position(*position.groups())
        elif line.startswith("calls="):
            self._is_call = True
        elif cost := COST.match(line):
            # The line after calls= is the cost of the callee.
            if not self._is_call:
                self.costs[self._file, self._function] += int(cost[1])
            self._is_call = False

    def _set_position(self, callee, kind, number, name):
        table = {"fn": "fn", "ob": "ob"}.get(kind, "fl")
        if name is not None:
            self._names[table, number] = name
        if callee:
            return
        name = self._names.get((table, number), "?")
        if kind == "ob":
            self._object = os.path.basename(name)
        elif kind == "fn":
            # A recursive call has a number behind the name.
            self._function = "%s (%s)" % (name.split("'")[0], self._object)
        else:
            self._file = os.path.basename(name)


def print_table(title, costs, events):
    print("\n| %s | instructions per event |\n|---|---|" % title)
    total = sum(costs.values()) / events
    shown = 0.0
    for name, cost in costs.most_common():
        if cost / events < 0.5:
            break
        shown += cost / events
        print("| %s | %.1f |" % (name, cost / events))
    if total - shown >= 0.05:
        print("| the rest | %.1f |" % (total - shown))
    print("| **total** | %.1f |" % total)


def main():
    check_parts()
    short, long, events = Profile(sys.argv[1]), Profile(sys.argv[2]), int(sys.argv[3])
    parts, files, functions = (collections.Counter() for _ in range(3))
    for (file, function), cost in long.costs.items():
        more = cost - short.costs[file, function]
        parts[part_of(file)] += more
        files[file] += more
        functions[function] += more
    if parts["encoding"] <= 0:
        sys.exit("no events were recorded: the profile has no instructions that encode any")
    print("Instructions per event, of %d events; malloc and free half and half." % events)
    print_table("part", parts, events)
    print_table("file", files, events)
    print_table("function, with what was inlined into it", functions, events)


main()
