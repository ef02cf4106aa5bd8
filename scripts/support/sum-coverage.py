"""Adds up what the traces of one recording hold.

Arguments: the memtrace executable, then the traces. Prints one line: processes, events, events
dropped, frees of blocks that no trace knows, misuses of the allocator.
"""

import json
import subprocess
import sys


def report(command, trace):
    """The JSON document of a report; empty when it cannot be made, which the caller counts."""
    run = subprocess.run(
        [memtrace, *command, "--format", "json", trace], capture_output=True, check=False)
    return json.loads(run.stdout) if run.returncode == 0 else None


memtrace, *traces = sys.argv[1:]
events = dropped = unknown = misuses = unreadable = 0
for trace in traces:
    allocations = report(["allocations", "--top", "1"], trace)
    errors = report(["errors", "--top", "1"], trace)
    if allocations is None or errors is None:
        unreadable += 1
        continue
    counters = allocations["coverage"]["counters"]
    events += allocations["total"]["eventCount"]
    dropped += counters.get("eventsDropped", 0) + counters.get("nestedEventsLost", 0)
    unknown += counters.get("unknownFrees", 0)
    misuses += sum(errors.get("counts", {}).values())
print(len(traces), events, dropped, unknown, misuses if not unreadable else f"{unreadable}unread")
