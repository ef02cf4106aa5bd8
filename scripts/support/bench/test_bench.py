"""Tests of the arithmetic: python3 -B -m unittest discover -s scripts/support/bench"""

import unittest
from unittest import mock

import measure
import processes
import tables
import tools
from figures import Figures


def samples(wall, cpu):
    return {"wall": wall, "cpu": cpu, "others": [0.0] * len(wall), "extra": [{}] * len(wall)}


def workload():
    """Round 2 is twice as slow as the others for all tools; heaptrack failed in round 3."""
    return {
        "name": "sqlite3",
        "threads": 0,
        "depth": 0,
        "events": 1_000_000,
        "tools": {
            tools.PLAIN: {**samples([1.0, 2.0, 1.0], [0.5, 1.0, 0.5]), "hostPeakKiB": 1024},
            tools.MEMTRACE: {
                **samples([1.25, 2.5, 1.5], [0.75, 1.5, 1.0]),
                "hostPeakKiB": 3072,
                "fileBytes": 2_500_000,
            },
            tools.HEAPTRACK: samples([2.0, 4.0, None], [2.5, 5.0, None]),
        },
    }


class FiguresTests(unittest.TestCase):
    def test_added_time_is_of_the_same_round(self):
        figures = Figures(workload())
        self.assertEqual(figures.added(tools.MEMTRACE, "wall"), 0.5)
        self.assertEqual(figures.added(tools.HEAPTRACK, "cpu"), 3.0)

    def test_ratio_leaves_failed_rounds_out(self):
        figures = Figures(workload())
        self.assertEqual(figures.rounds(tools.HEAPTRACK), 2)
        self.assertEqual(figures.ratio(tools.MEMTRACE, tools.HEAPTRACK, "wall"), 0.25)
        self.assertEqual(figures.ratio(tools.MEMTRACE, tools.HEAPTRACK, "cpu"), 0.125)

    def test_figures_per_event(self):
        figures = Figures(workload())
        self.assertEqual(figures.added_ns_per_event(tools.MEMTRACE, "cpu"), 500)
        self.assertEqual(figures.bytes_per_event(tools.MEMTRACE), 2.5)
        self.assertEqual(figures.added_peak_kib(tools.MEMTRACE), 2048)

    def test_what_was_not_measured_is_not_known(self):
        figures = Figures(workload())
        self.assertFalse(figures.has(tools.DHAT))
        self.assertIsNone(figures.added(tools.DHAT, "wall"))
        self.assertIsNone(figures.slowdown(tools.DHAT))
        self.assertIsNone(figures.bytes_per_event(tools.HEAPTRACK))


class CalmTests(unittest.TestCase):
    def run_calmly(self, disturbances, greatest):
        """The sample taken of runs with those disturbances, and how many runs there were."""
        runs = [processes.Sample(wall=1.0, cpu=1.0, others=others) for others in disturbances]
        left = list(runs)
        with mock.patch.object(measure, "_run", lambda workload, tool: left.pop(0)):
            taken = measure._run_calmly(None, tools.Tool(tools.PLAIN, []), greatest)
        return runs.index(taken), len(runs) - len(left)

    def test_the_first_calm_run_counts(self):
        self.assertEqual(self.run_calmly([0.9, 0.1, 0.0], 0.2), (1, 2))

    def test_without_a_calm_run_the_calmest_counts(self):
        self.assertEqual(self.run_calmly([0.9, 0.8, 0.5, 0.6, 0.7], 0.2), (2, 5))

    def test_one_run_is_enough_when_calm_is_not_asked_for(self):
        self.assertEqual(self.run_calmly([0.9, 0.1], None), (0, 1))


class RecordingTests(unittest.TestCase):
    def check(self, name, events=7, stacks=3, sampling=None, files=("trace",)):
        """What is said against a recording; None where it is taken."""
        tool = mock.Mock(files=lambda: list(files))
        tool.name = name
        documents = {
            "info": {"file": {"stackNodes": stacks}, "trace": {"sampling": 1} if sampling else {}},
            "allocations": {"total": {"eventCount": events}},
        }
        report = lambda memtrace, trace, command, *options: documents[command]
        workload = mock.Mock()
        workload.name = "sqlite3"
        with mock.patch.object(measure, "_report", report):
            try:
                measure._check_recording(workload, tool, "memtrace")
            except SystemExit as end:
                return str(end).split(": ")[-1]
        return None

    def test_what_is_measured_must_have_been_there(self):
        self.assertIsNone(self.check(tools.MEMTRACE))
        self.assertIsNone(self.check(tools.EVENTS_ONLY, stacks=0))
        self.assertIsNone(self.check(tools.SAMPLED, sampling=True, events=0, stacks=0))
        for name in tools.OWN:
            self.assertEqual(self.check(name, files=()), "nothing was recorded")
        self.assertEqual(self.check(tools.MEMTRACE, events=0), "nothing was recorded")
        self.assertEqual(self.check(tools.MEMTRACE, stacks=0), "no stacks were recorded")
        self.assertEqual(self.check(tools.EVENTS_ONLY), "stacks were recorded")
        self.assertEqual(self.check(tools.MEMTRACE, sampling=True), "only a sample was recorded")
        self.assertEqual(self.check(tools.SAMPLED), "all was recorded")


class SampleTests(unittest.TestCase):
    def test_a_part_of_a_run_was_disturbed_as_the_whole(self):
        whole = processes.Sample(wall=4.0, cpu=1.0, others=2.0, extra={"p99 ms": 1.0})
        part = whole.during(1.0)
        self.assertEqual(part, processes.Sample(1.0, 1.0, 0.5, {"p99 ms": 1.0}))
        self.assertEqual(part.disturbance(), whole.disturbance())


class JoinTests(unittest.TestCase):
    def test_rounds_stay_beside_those_they_belong_to(self):
        second = workload()
        del second["tools"][tools.MEMTRACE]
        second["tools"][tools.PLAIN]["hostPeakKiB"] = 2048
        joined = measure.join(workload(), second)["tools"]
        self.assertEqual(joined[tools.PLAIN]["wall"], [1.0, 2.0, 1.0] * 2)
        self.assertEqual(joined[tools.MEMTRACE]["wall"], [1.25, 2.5, 1.5, None, None, None])
        self.assertEqual(joined[tools.PLAIN]["hostPeakKiB"], 2048)


class TableTests(unittest.TestCase):
    def test_growth_is_against_one_thread_of_the_same_depth(self):
        stress = []
        for threads, seconds in ((1, 0.1), (8, 0.125)):
            stress.append({
                "name": "stress-%d-5" % threads, "threads": threads, "depth": 5, "events": 1_000_000,
                "tools": {tools.PLAIN: samples([0.01], [0.01]),
                          tools.MEMTRACE: samples([seconds], [seconds])},
            })
        text = tables.markdown({"machine": {}, "workloads": stress})
        self.assertIn("| 5 | 1 | 10 | – | 100 | – | – | +0 % |", text)
        self.assertIn("| 5 | 8 | 10 | – | 125 | – | – | +25 % |", text)


class ProcessTests(unittest.TestCase):
    def test_cpu_time_of_orphans_counts(self):
        processes.adopt_orphans()
        busy = "import time\nwhile time.process_time() < 0.2: pass"
        # The shell ends at once; its child goes on.
        sample = processes.run(["sh", "-c", 'python3 -c "$1" & exit 0', "sh", busy], {})
        self.assertGreaterEqual(sample.cpu, 0.2)
        self.assertGreaterEqual(sample.wall, 0)

    def test_a_command_that_fails_has_no_sample(self):
        self.assertIsNone(processes.run(["false"], {}))


if __name__ == "__main__":
    unittest.main()
