"""Measures redis-server: a fixed number of requests, sent by redis-benchmark."""

import csv
import os
import socket
import subprocess
import time

import processes

REQUESTS = 60_000
COMMANDS = ("set", "get", "lpush")
PATIENCE_SECONDS = 60


def run(command, environment):
    """Runs the server under a tool and the client plainly.

    Returns a sample, or None when either failed. Its wall time is that of the client, without the
    start and the end of the server; its CPU time is that of the server and of the tool's helpers.
    Extra figures: requests per second and the 99th percentile of latency in ms, of each command.
    """
    address = command[command.index("--unixsocket") + 1]
    meter = processes.Meter()
    with processes.start(command, environment) as server:
        if not _wait_until_listening(address, server):
            return None
        start = time.monotonic()
        rows, client_cpu = _benchmark(address)
        wall = time.monotonic() - start
        subprocess.run(
            ["redis-cli", "-s", address, "shutdown", "nosave"], check=False, capture_output=True
        )
        server.wait()
    sample = meter.stop(excluded=client_cpu).during(wall)
    if server.returncode != 0 or len(rows) != len(COMMANDS):
        return None
    for row in rows:
        name = row["test"].split(" ")[0].lower()
        sample.extra[name + " requests/s"] = float(row["rps"])
        sample.extra[name + " p99 ms"] = float(row["p99_latency_ms"])
    return sample


def _wait_until_listening(address, server):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(address)
                return True
            except OSError:
                time.sleep(0.01)
    return False


def _benchmark(address):
    """The rows of redis-benchmark's table, and the CPU seconds that it took itself."""
    command = ["redis-benchmark", "-s", address, "-n", str(REQUESTS), "-c", "20", "-d", "100"]
    command += ["-r", "10000", "-t", ",".join(COMMANDS), "--csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
        text = client.stdout.read()
        _, status, usage = os.wait4(client.pid, 0)
        client.returncode = os.waitstatus_to_exitcode(status)
    rows = list(csv.DictReader(text.splitlines()))
    return rows if client.returncode == 0 else [], usage.ru_utime + usage.ru_stime
