"""Times test suites plainly, under `memtrace check` and under Valgrind: bench-gate.py ROOT ROUNDS"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

VALGRIND = ["valgrind", "-q", "--leak-check=full", "--error-exitcode=86"]

SUITE = """cmake_minimum_required(VERSION 3.18)
project(Suite CXX)
include(CTest)
add_executable(numbers "{source}")
target_compile_options(numbers PRIVATE -g)
foreach(round RANGE 1 10)
  add_test(NAME sums${{round}} COMMAND numbers sums)
  add_test(NAME copies${{round}} COMMAND numbers copies)
endforeach()
"""


def run(command, folder, statuses):
    """Seconds of wall and of CPU time; the status must be one of these."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in statuses:
        text = done.stdout.decode(errors="replace")[-2000:]
        sys.exit(f"bench-gate: {' '.join(command)} ended with {done.returncode}:\n{text}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def prepare(command, folder):
    run(command, folder, [0])


def swift_package(root, temp):
    """The sample package, built; and its test program without the debug information of Swift, which
    Valgrind 3.19 cannot read."""
    package = os.path.join(temp, "swift-test")
    shutil.copytree(
        os.path.join(root, "Examples/swift-test"), package, ignore=shutil.ignore_patterns(".build")
    )
    manifest = os.path.join(package, "Package.swift")
    with open(manifest, encoding="utf-8") as file:
        text = file.read()
    with open(manifest, "w", encoding="utf-8") as file:
        file.write(text.replace('"../.."', f'"{root}"'))
    prepare(["swift", "build", "--build-tests"], package)
    tests = os.path.join(package, ".build/debug/ShelfPackageTests.xctest")
    stripped = os.path.join(temp, "stripped.xctest")
    prepare(["objcopy", "--strip-debug", tests, stripped], package)
    return package, tests, stripped


def ctest_suites(root, temp):
    """A suite of 20 tests, built once for each memory checker."""
    folders = {}
    source = os.path.join(root, "Examples/ctest/numbers.cpp")
    with open(os.path.join(temp, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(SUITE.format(source=source))
    checkers = {
        "memtrace": os.path.join(root, "ci/ctest/memtrace-memcheck"),
        "valgrind": shutil.which("valgrind"),
    }
    for name, checker in checkers.items():
        folder = folders[name] = os.path.join(temp, f"ctest-{name}")
        define = [f"-DMEMORYCHECK_COMMAND={checker}", "-DMEMORYCHECK_TYPE=Valgrind"]
        prepare(["cmake", "-S", temp, "-B", folder] + define, temp)
        prepare(["cmake", "--build", folder], temp)
    return folders


def main():
    root, rounds = sys.argv[1], int(sys.argv[2])
    check = [os.environ["MEMTRACE"], "check", "--"]
    with tempfile.TemporaryDirectory() as temp:
        package, tests, stripped = swift_package(root, temp)
        suites = ctest_suites(root, temp)
        swift = ["swift", "test", "--skip-build"]
        memcheck = ["ctest", "-T", "memcheck"]
        # Which suite, in which way, the command, where; the status of a gate that finds the leaks.
        runs = [
            ("`swift test`", "plain", swift, package, [0]),
            ("`swift test`", "memtrace", check + swift, package, [86]),
            ("its process of XCTest alone", "plain", [tests], package, [0]),
            ("its process of XCTest alone", "memtrace", check + [tests], package, [86]),
            ("its process of XCTest alone", "Valgrind", VALGRIND + [stripped], package, [86]),
            ("`ctest`, 20 tests", "plain", ["ctest"], suites["memtrace"], [0]),
            ("`ctest`, 20 tests", "memtrace", check + ["ctest"], suites["memtrace"], [0]),
            ("`ctest -T memcheck`, 20 tests", "plain", ["ctest"], suites["memtrace"], [0]),
            ("`ctest -T memcheck`, 20 tests", "memtrace", memcheck, suites["memtrace"], [0]),
            ("`ctest -T memcheck`, 20 tests", "Valgrind", memcheck, suites["valgrind"], [0]),
        ]
        least = {}
        # Round by round, so that what else the machine does meets all alike.
        for _ in range(rounds):
            for suite, way, command, folder, statuses in runs:
                key, times = (suite, way), run(command, folder, statuses)
                least[key] = tuple(map(min, zip(times, least.get(key, times))))
    ways = ["plain", "memtrace", "Valgrind"]
    print("| seconds, wall (CPU) | plain | `memtrace check` | Valgrind |")
    print("|---|---|---|---|")
    for suite in dict.fromkeys(entry[0] for entry in runs):
        cells = [least.get((suite, way)) for way in ways]
        shown = [f"{cell[0]:.2f} ({cell[1]:.2f})" if cell else "–" for cell in cells]
        print(f"| {suite} | {' | '.join(shown)} |")


main()
