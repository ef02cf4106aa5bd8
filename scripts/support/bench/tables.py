"""Markdown tables out of a document of measurements."""

import tools
from figures import Figures

RIVALS = (tools.HEAPTRACK, tools.HEAPTRACK_RAW)
SLOW = (tools.MEMCHECK, tools.DHAT)


def markdown(document):
    """All tables that the document has figures for."""
    workloads = [Figures(workload) for workload in document["workloads"]]
    programs = [figures for figures in workloads if not figures.workload["threads"]]
    stress = [figures for figures in workloads if figures.workload["threads"]]
    parts = [_machine(document["machine"])]
    if workloads:
        parts += [_summary(workloads), _times(workloads), _memory(workloads)]
    parts += [_server(figures) for figures in programs if figures.extra_names()]
    if len({figures.workload["threads"] for figures in stress}) > 1:
        parts.append(_threads(stress))
    parts.append(_remarks(workloads))
    return "\n\n".join(part for part in parts if part) + "\n"


def _machine(machine):
    return "\n".join("- %s: %s" % item for item in machine.items())


def _summary(workloads):
    """What a README says."""
    compared = (tools.MEMTRACE, *RIVALS)
    head = ["program", "plain s", *("%s +" % tool for tool in compared)]
    head += ["%s, ratio" % what for what in ("wall time", "CPU time")]
    rows = []
    for figures in workloads:
        row = [figures.workload["name"], _number(figures.total(tools.PLAIN, "wall"), 2)]
        row += [_number(figures.added(tool, "wall"), 2) for tool in compared]
        for what in ("wall", "cpu"):
            row.append(_number(figures.ratio(tools.MEMTRACE, tools.HEAPTRACK, what), 2))
        rows.append(row)
    title = "Added seconds; ratios of added time, memtrace / heaptrack (its default mode)"
    return _table(title, head, rows)


def _times(workloads):
    own = (tools.EVENTS_ONLY, tools.MEMTRACE)
    head = ["program", "events", *("%s, CPU ns per event" % tool for tool in own)]
    head += ["CPU, ratio", "wall / heaptrack -r", "CPU / heaptrack -r"]
    head += ["%s ×" % tool for tool in SLOW] + ["%s 512 KiB" % tools.SAMPLED]
    rows = []
    for figures in workloads:
        row = [figures.workload["name"], _count(figures.events)]
        row += [_number(figures.added_ns_per_event(tool, "cpu"), 0) for tool in own]
        row.append(_number(figures.ratio(tools.MEMTRACE, tools.EVENTS_ONLY, "cpu"), 2))
        for what in ("wall", "cpu"):
            row.append(_number(figures.ratio(tools.MEMTRACE, tools.HEAPTRACK_RAW, what), 2))
        row += [_number(figures.slowdown(tool), 1) for tool in SLOW]
        row.append(_share(figures.slowdown(tools.SAMPLED)))
        rows.append(row)
    title = "Added CPU time per event, the slow ones (times the plain run), a sample's part of it"
    return _table(title, head, rows)


def _memory(workloads):
    others = (tools.MEMTRACE, tools.HEAPTRACK)
    head = ["program", "plain MiB", *("%s + MiB" % tool for tool in (*others, *SLOW))]
    head += ["memtrace B/event", "packed", "heaptrack B/event", "heaptrack -r"]
    rows = []
    for figures in workloads:
        row = [figures.workload["name"], _mib(figures.peak_kib(tools.PLAIN))]
        row += [_mib(figures.added_peak_kib(tool)) for tool in (*others, *SLOW)]
        row.append(_number(figures.bytes_per_event(tools.MEMTRACE), 2))
        row.append(_number(figures.bytes_per_event(tools.MEMTRACE, "packedBytes"), 2))
        row += [_number(figures.bytes_per_event(tool), 2) for tool in RIVALS]
        rows.append(row)
    return _table("The host's peak memory, and bytes per event of the files", head, rows)


def _server(figures):
    present = [tool for tool in (tools.PLAIN, tools.EVENTS_ONLY, tools.MEMTRACE, *RIVALS, *SLOW)
               if figures.has(tool)]
    rows = []
    for name in figures.extra_names():
        digits = 0 if name.endswith("/s") else 2
        rows.append([name, *(_number(figures.extra(tool, name), digits) for tool in present)])
    return _table(figures.workload["name"] + " under its client", ["", *present], rows)


def _threads(stress):
    compared = (tools.PLAIN, tools.EVENTS_ONLY, tools.MEMTRACE, *RIVALS)
    head = ["depth", "threads", *("%s ns" % tool for tool in compared), "memtrace's growth"]
    rows = []
    base = None
    for figures in sorted(stress, key=lambda f: (f.workload["depth"], f.workload["threads"])):
        depth, threads = figures.workload["depth"], figures.workload["threads"]
        cpu = {}
        for tool in compared:
            seconds = figures.total(tool, "cpu")
            cpu[tool] = seconds / figures.events * 1e9 if seconds and figures.events else None
        if threads == 1:
            base = depth, cpu[tools.MEMTRACE]
        own = cpu[tools.MEMTRACE]
        growth = own / base[1] - 1 if own and base and base[0] == depth and base[1] else None
        rows.append([str(depth), str(threads), *(_number(cpu[tool], 0) for tool in compared),
                     _percent(growth)])
    return _table("CPU time per event by threads, the program's own included", head, rows)


def _remarks(workloads):
    remarks = []
    for figures in workloads:
        name = figures.workload["name"]
        rounds = {tool: figures.rounds(tool) for tool in figures.workload["tools"]}
        listed = ", ".join("%s %d" % item for item in rounds.items())
        disturbance = figures.disturbance() or 0
        busy = "; other processes took %.0f %% of a CPU meanwhile" % (disturbance * 100)
        remarks.append("- %s: rounds %s%s" % (name, listed, busy if disturbance > 0.05 else ""))
    return "\n".join(remarks)


def _table(title, head, rows):
    lines = ["**%s**" % title, "", "| %s |" % " | ".join(head), "|" + "---|" * len(head)]
    return "\n".join(lines + ["| %s |" % " | ".join(row) for row in rows])


def _number(value, digits):
    return "–" if value is None else "%.*f" % (digits, value)


def _percent(value):
    return "–" if value is None else "%+.0f %%" % (value * 100)


def _share(slowdown):
    return "–" if slowdown is None else "%+.1f %%" % ((slowdown - 1) * 100)


def _mib(kib):
    return "–" if kib is None else "%.1f" % (kib / 1024)


def _count(events):
    return "–" if events is None else "%.1f M" % (events / 1e6)
