"""Adds up `memtrace info --format json` of several traces: processes, events, dropped, unknown."""

import json
import sys


def find(value, name):
    """The first value of a key, wherever it is."""
    if isinstance(value, dict):
        if name in value:
            return value[name]
        for inner in value.values():
            found = find(inner, name)
            if found is not None:
                return found
    return None


processes = events = dropped = unknown = 0
decoder = json.JSONDecoder()
text = sys.stdin.read()
position = 0
while position < len(text):
    if text[position].isspace():
        position += 1
        continue
    info, position = decoder.raw_decode(text, position)
    processes += 1
    events += find(info, "events") or 0
    dropped += find(info, "eventsDropped") or 0
    unknown += find(info, "unknownFrees") or 0
print(processes, events, dropped, unknown)
