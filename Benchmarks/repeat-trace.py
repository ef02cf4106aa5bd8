#!/usr/bin/env python3
"""Makes a trace as long as wanted out of a recorded one, by repeating its events.

    repeat-trace.py recorded.mtrace huge.mtrace --events 5000000000 --recorded-events 18638903

Every round of events begins when the one before it has ended. Stacks, images, threads and notes
stay as they are. A block that was live at the end of a round is allocated again by the next one,
which the reader counts as implicitly freed: as many blocks are live after a thousand rounds as
after one. The recorded trace must be a plain one (memtrace unpack).
"""

import argparse
import struct
import sys

FILE_HEADER_SIZE = 4096
CHUNK_HEADER = struct.Struct("<IIHHIQQQIIQQ")
MAGIC = 0x4B43544D
EVENTS = 3
# Fields of the file header: docs/trace-format.md, section 2.
START_MONOTONIC, START_TICKS, LATEST_MONOTONIC, LATEST_TICKS = 104, 112, 120, 128
TICK_SHIFT, FILE_END, CHUNKS, END_TICKS = 144, 152, 184, 200


def check(header):
    """FNV-1a over the fields that header_check guards."""
    value = 2166136261
    for byte in header[8:56]:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def field(header, offset):
    return struct.unpack_from("<Q", header, offset)[0]


def set_field(header, offset, value):
    struct.pack_into("<Q", header, offset, value)


class Chunk:
    """A chunk as recorded."""

    def __init__(self, content):
        self.content = content
        (_, _, self.kind, self.encoding, self.length, self.offset, self.sequence, self.base_time,
         self.thread, self.first_id, self.tag, self.last_time) = CHUNK_HEADER.unpack_from(content)

    def header(self, offset, sequence, base_time):
        """Its header at another place and time."""
        last_time = self.last_time and self.last_time - self.base_time + base_time
        fields = [self.kind, self.encoding, self.length, offset, sequence, base_time, self.thread,
                  self.first_id, self.tag, last_time]
        return CHUNK_HEADER.pack(
            MAGIC, check(CHUNK_HEADER.pack(MAGIC, 0, *fields)), *fields)


def read_chunks(file, end):
    """All chunks up to the end of the file. None where one of them is not as it should be: what
    follows would be left out of every round."""
    chunks = []
    while file.tell() < end:
        start = file.tell()
        header = file.read(CHUNK_HEADER.size)
        if len(header) < CHUNK_HEADER.size or struct.unpack_from("<I", header)[0] != MAGIC:
            return None
        chunk = Chunk(header + file.read(Chunk(header).length - len(header)))
        if chunk.offset != start or len(chunk.content) < chunk.length:
            return None
        if struct.unpack_from("<I", header, 4)[0] != check(header):
            return None
        chunks.append(chunk)
    return chunks


def read(path):
    """The file header of a trace, and its chunks."""
    try:
        with open(path, "rb") as file:
            header = bytearray(file.read(FILE_HEADER_SIZE))
            if len(header) < FILE_HEADER_SIZE or header[:8] != b"MEMTRACE":
                fail(f"{path} is no plain trace")
            chunks = read_chunks(file, field(header, FILE_END))
    except OSError as error:
        fail(f"cannot read {path}: {error.strerror}")
    if chunks is None:
        fail(f"{path} is damaged")
    if not any(chunk.kind == EVENTS for chunk in chunks):
        fail(f"{path} holds no events")
    return header, chunks


def fail(message):
    sys.exit(f"repeat-trace.py: {message}")


def positive(text):
    """An option's number."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("has to be above 0")
    return number


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recorded")
    parser.add_argument("output")
    parser.add_argument("--events", type=positive, required=True, help="events wanted, at least")
    parser.add_argument(
        "--recorded-events", type=positive, required=True, help="as memtrace report shows them")
    options = parser.parse_args()
    rounds = -(-options.events // options.recorded_events)

    header, chunks = read(options.recorded)
    shift = field(header, TICK_SHIFT)
    start = field(header, START_TICKS) >> shift
    last = max(field(header, LATEST_TICKS), field(header, END_TICKS)) >> shift
    span = last - start + 1
    events = sorted((c for c in chunks if c.kind == EVENTS), key=lambda c: c.sequence)

    sequence = max(chunk.sequence for chunk in chunks) + 1
    with open(options.output, "wb") as output:
        output.write(header)
        for chunk in chunks:
            output.write(chunk.header(output.tell(), chunk.sequence, chunk.base_time))
            output.write(chunk.content[CHUNK_HEADER.size:])
        for number in range(1, rounds):
            for chunk in events:
                base_time = chunk.base_time + number * span
                output.write(chunk.header(output.tell(), sequence, base_time))
                output.write(chunk.content[CHUNK_HEADER.size:])
                sequence += 1
        added = (rounds - 1) * span << shift
        rate = (field(header, LATEST_MONOTONIC) - field(header, START_MONOTONIC)) / max(
            1, field(header, LATEST_TICKS) - field(header, START_TICKS))
        set_field(header, FILE_END, output.tell())
        set_field(header, CHUNKS, sequence)
        set_field(header, LATEST_TICKS, field(header, LATEST_TICKS) + added)
        set_field(header, LATEST_MONOTONIC, field(header, LATEST_MONOTONIC) + int(added * rate))
        if field(header, END_TICKS):
            set_field(header, END_TICKS, field(header, END_TICKS) + added)
        output.seek(0)
        output.write(header)
    print(f"{rounds} rounds, {rounds * options.recorded_events} events")


if __name__ == "__main__":
    main()
