"""Figures out of the samples of a workload: medians, added times, ratios. None: not known."""

import statistics

import tools


def median(values):
    """The median of the known values."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


class Figures:
    """Questions about one workload, as measure.measure returns it."""

    def __init__(self, workload):
        self.workload = workload
        self.events = workload["events"]

    def has(self, tool):
        return any(value is not None for value in self._samples(tool, "wall"))

    def rounds(self, tool):
        return sum(value is not None for value in self._samples(tool, "wall"))

    def total(self, tool, what):
        """Median seconds; `what` is wall, cpu or others."""
        return median(self._samples(tool, what))

    def added(self, tool, what):
        """Median seconds more than plainly in the same round."""
        return median(self._added(tool, what))

    def ratio(self, tool, other, what):
        """What `tool` adds over what `other` adds, the median of rounds."""
        pairs = zip(self._added(tool, what), self._added(other, what))
        return median(a / b for a, b in pairs if a is not None and b)

    def slowdown(self, tool):
        """The tool's wall time over the plain one."""
        pairs = zip(self._samples(tool, "wall"), self._samples(tools.PLAIN, "wall"))
        return median(a / b for a, b in pairs if a is not None and b)

    def added_ns_per_event(self, tool, what):
        added = self.added(tool, what)
        return added / self.events * 1e9 if added is not None and self.events else None

    def added_peak_kib(self, tool):
        """The host's peak memory above the plain run's."""
        peaks = [self._of(name).get("hostPeakKiB") for name in (tool, tools.PLAIN)]
        return peaks[0] - peaks[1] if None not in peaks else None

    def peak_kib(self, tool):
        return self._of(tool).get("hostPeakKiB")

    def bytes_per_event(self, tool, which="fileBytes"):
        """Of all files that the tool left, or of another entry of theirs."""
        size = self._of(tool).get(which)
        return size / self.events if size and self.events else None

    def extra(self, tool, name):
        """The median of a figure that only this workload has."""
        return median((sample or {}).get(name) for sample in self._samples(tool, "extra"))

    def extra_names(self):
        samples = self._samples(tools.PLAIN, "extra")
        return list(samples[0]) if samples and samples[0] else []

    def disturbance(self):
        """CPU seconds of the rest of the machine per second of the plain run."""
        wall, others = self.total(tools.PLAIN, "wall"), self.total(tools.PLAIN, "others")
        return others / wall if wall and others is not None else None

    def _of(self, tool):
        return self.workload["tools"].get(tool, {})

    def _samples(self, tool, what):
        return self._of(tool).get(what, [])

    def _added(self, tool, what):
        pairs = zip(self._samples(tool, what), self._samples(tools.PLAIN, what))
        return [a - b if a is not None and b is not None else None for a, b in pairs]
