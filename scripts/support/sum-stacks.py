"""Adds up how the stacks of one recording were taken.

Arguments: the memtrace executable, then the traces. Prints one line: processes, stacks compared,
taken by libunwind alone, without root, different above a guess, different. The first differences go
to standard error.
"""

import json
import subprocess
import sys

NAMES = [
    "stacksCompared", "stacksLibunwind", "stacksRootless", "stacksGuessDifferent",
    "stacksDifferent"]

memtrace, *traces = sys.argv[1:]
sums = dict.fromkeys(NAMES, 0)
shown = 0
for trace in traces:
    run = subprocess.run(
        [memtrace, "info", "--format", "json", trace], capture_output=True, check=True)
    document = json.loads(run.stdout)
    counters = document["coverage"]["counters"]
    for name in NAMES:
        sums[name] += counters.get(name, 0)
    if counters.get("stacksDifferent", 0) and shown < 3:
        shown += 1
        notes = subprocess.run(
            [memtrace, "dump", "--kind", "note", trace], capture_output=True, check=True, text=True)
        lines = [line for line in notes.stdout.splitlines() if "stacks differ" in line]
        print(f"    {document['trace']['executable']}:", *lines[:3], sep="\n    ", file=sys.stderr)
print(len(traces), *sums.values())
