"""Measures one workload under all tools, in turn, and returns the figures as plain data.

Each round runs every tool once, so that a drift of the machine meets all alike. Figures of a round
belong together: position i of every list is round i, None where a tool did not run or failed.
"""

import json
import os
import subprocess

import processes
import server
import tools

SAMPLED = ("wall", "cpu", "others", "extra")


# How often a run is made that fails or is disturbed.
TRIES = 5


def begin(workload, selected, slow_rounds):
    """What a measurement fills: the JSON document in docs/performance.md says what it holds."""
    chosen = [t for t in selected if not (t.is_slow and (workload.skips_slow or not slow_rounds))]
    return chosen, {
        "name": workload.name,
        "threads": workload.threads,
        "depth": workload.depth,
        "events": None,
        "tools": {tool.name: {name: [] for name in SAMPLED} for tool in chosen},
    }


def measure(workload, chosen, result, options, host_peak, say):
    """Fills the result; what was interrupted holds the rounds that were complete.

    A round before the first finds out what takes no timing: peak memory, files, number of events.
    """
    for tool in chosen:
        say("%s: %s, memory" % (workload.name, tool.name))
        _measure_memory(workload, tool, result, options.memtrace, host_peak)
    for number in range(options.pairs):
        say("%s: round %d of %d" % (workload.name, number + 1, options.pairs))
        # Another one begins each time: none is always the one after heaptrack.
        first = number % len(chosen)
        samples = {}
        for tool in chosen[first:] + chosen[:first]:
            limit = options.slow_pairs if tool.is_slow else workload.limits.get(tool.name)
            runs = limit is None or number < limit
            samples[tool.name] = _run_calmly(workload, tool, options.calm) if runs else None
        for name, sample in samples.items():
            _append(result["tools"][name], sample)


def join(first, second):
    """Two measurements of one workload as one. What is measured once is that of the second."""
    joined = {**first, **second, "tools": {}}
    counts = [len(result["tools"][tools.PLAIN]["wall"]) for result in (first, second)]
    for name in [*first["tools"], *(set(second["tools"]) - set(first["tools"]))]:
        parts = [result["tools"].get(name, {}) for result in (first, second)]
        joined["tools"][name] = {**parts[0], **parts[1]}
        for key in SAMPLED:
            lists = [p.get(key, [None] * count) for p, count in zip(parts, counts)]
            joined["tools"][name][key] = lists[0] + lists[1]
    return joined


def _run_calmly(workload, tool, greatest):
    """A run during which others took at most `greatest` CPUs; where none is, the calmest."""
    calmest = None
    for _ in range(TRIES):
        sample = _run(workload, tool)
        tool.remove_files()
        if not calmest or (sample and sample.disturbance() < calmest.disturbance()):
            calmest = sample
        if not sample or not greatest or sample.disturbance() <= greatest:
            break
    return calmest


def _run(workload, tool):
    command = tool.prefix + workload.command
    environment = {**workload.environment, **tool.environment}
    # heaptrack ends with SIGPIPE now and then: another try, then a gap.
    for _ in range(2):
        if workload.is_server:
            sample = server.run(command, environment)
        else:
            sample = processes.run(command, environment, workload.stdin)
        if sample:
            return sample
        tool.remove_files()
    if not tool.name.startswith(tools.HEAPTRACK):
        raise SystemExit("bench: %s failed under %s" % (workload.name, tool.name))
    return None


def _append(figures, sample):
    for name in SAMPLED:
        figures[name].append(getattr(sample, name) if sample else None)


def _measure_memory(workload, tool, result, memtrace, host_peak):
    figures = result["tools"][tool.name]
    listing = host_peak + ".list"
    observed = tools.Tool(
        tool.name, [host_peak, listing, *tool.prefix], tool.environment, tool.output)
    _run(workload, observed)
    executable = tool.executable or workload.executable
    figures["hostPeakKiB"] = processes.peak_kib(listing, executable)
    figures["fileBytes"] = sum(map(os.path.getsize, tool.files()))
    if tool.name in tools.OWN:
        _check_recording(workload, tool, memtrace)
    if tool.name == tools.MEMTRACE:
        result["events"] = _events(memtrace, tool.files())
        figures["packedBytes"] = _packed_bytes(memtrace, tool.files())
    tool.remove_files()


def _check_recording(workload, tool, memtrace):
    """Ends the measurement where a recording is not what its name says: it would cost too little."""
    files = tool.files()
    infos = [_report(memtrace, trace, "info") for trace in files]
    has_stacks = any(info["file"]["stackNodes"] for info in infos)
    is_sampled = any("sampling" in info["trace"] for info in infos)
    problem = None
    if not files or (tool.name != tools.SAMPLED and not _events(memtrace, files)):
        problem = "nothing was recorded"
    elif is_sampled != (tool.name == tools.SAMPLED):
        problem = "all was recorded" if not is_sampled else "only a sample was recorded"
    elif tool.name != tools.SAMPLED and has_stacks != (tool.name == tools.MEMTRACE):
        problem = "stacks were recorded" if has_stacks else "no stacks were recorded"
    if problem:
        raise SystemExit("bench: %s under %s: %s" % (workload.name, tool.name, problem))


def _events(memtrace, traces):
    reports = [_report(memtrace, trace, "allocations", "--top", "1") for trace in traces]
    return sum(report["total"]["eventCount"] for report in reports)


def _report(memtrace, trace, *command):
    """The JSON document of a report."""
    report = [memtrace, *command, "--format", "json", trace]
    return json.loads(subprocess.run(report, check=True, capture_output=True).stdout)


def _packed_bytes(memtrace, traces):
    """Bytes of the packed traces; None with a memtrace that cannot pack."""
    total = 0
    for trace in traces:
        packed = trace + ".packed"
        command = [memtrace, "pack", trace, "-o", packed]
        run = subprocess.run(command, capture_output=True, check=False)
        if run.returncode != 0:
            return None
        total += os.path.getsize(packed)
        os.remove(packed)
    return total
