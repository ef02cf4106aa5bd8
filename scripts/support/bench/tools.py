"""The tools that are compared: what stands before a command, and which files result."""

import glob
import os
import shutil
from dataclasses import dataclass, field

PLAIN = "plain"
MEMTRACE = "memtrace"
EVENTS_ONLY = "events only"
SAMPLED = "sampled"
HEAPTRACK = "heaptrack"
HEAPTRACK_RAW = "heaptrack -r"
MEMCHECK = "memcheck"
DHAT = "DHAT"

# Those whose files memtrace reads.
OWN = (EVENTS_ONLY, MEMTRACE, SAMPLED)


@dataclass
class Tool:
    """prefix: arguments before the command; environment: added for the tool.

    output: pattern of the files that it writes. executable: beginning of the path of the process
    that holds the host, where that is not the host's own. is_slow: runs fewer rounds.
    """

    name: str
    prefix: list
    environment: dict = field(default_factory=dict)
    output: str = ""
    executable: str = ""
    is_slow: bool = False

    def files(self):
        return glob.glob(self.output) if self.output else []

    def remove_files(self):
        for path in self.files():
            os.remove(path)


def all_tools(memtrace, scratch):
    """Every tool of this machine, in the order of the tables; their files go into `scratch`."""
    traces = os.path.join(scratch, "memtrace")
    # Without the heap snapshot at the end, which no other tool takes.
    record = [memtrace, "record", "-q", "--no-exit-snapshot", "-o", traces + ".mtrace", "--"]
    found = [
        Tool(PLAIN, []),
        Tool(EVENTS_ONLY, record, {"MEMTRACE_STACKS": "0"}, traces + "*"),
        Tool(MEMTRACE, record, {}, traces + "*"),
        Tool(SAMPLED, [*record[:-1], "--sample", "512KiB", "--"], {}, traces + "*"),
    ]
    if shutil.which("heaptrack"):
        output = os.path.join(scratch, "heaptrack")
        # Symbols from the network would make the figures a matter of the network.
        offline = {"DEBUGINFOD_URLS": ""}
        found += [
            Tool(HEAPTRACK, ["heaptrack", "-o", output], offline, output + "*"),
            Tool(HEAPTRACK_RAW, ["heaptrack", "-r", "-o", output], offline, output + "*"),
        ]
    if shutil.which("valgrind"):
        found += [
            _valgrind(MEMCHECK, "memcheck", ["--leak-check=full"], scratch),
            _valgrind(DHAT, "dhat", ["--dhat-out-file=" + scratch + "/dhat.out"], scratch),
        ]
    return found


def _valgrind(name, tool, options, scratch):
    return Tool(
        name,
        ["valgrind", "-q", "--tool=" + tool, *options],
        {"DEBUGINFOD_URLS": ""},
        scratch + "/dhat.out",
        executable="/usr/libexec/valgrind/" + tool,
        is_slow=True,
    )
