"""Runs programs with known leaks under three tools and compares what these say.

Arguments: the memtrace executable, the folder with the compiled programs. The programs print with
--list how many blocks each case leaks; a case is a function whose name is on the stacks of its
blocks. Leaks of other blocks, and more blocks than a case leaks, are false.
"""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

memtrace, work = sys.argv[1:]
TOOLS = ["memtrace", "LeakSanitizer", "Valgrind"]
PROGRAMS = [("C", "leaks-c"), ("C++", "leaks-cpp"), ("Swift", "leaks-swift")]


def path(name):
    return os.path.join(work, name)


def arguments(program):
    return [path("leaks_plugin.so")] if program == "leaks-c" else []


def run(command, **variables):
    return subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True,
        errors="replace", check=False, timeout=600)


def known_cases(program):
    """Case -> blocks that it leaks."""
    lines = run([path(program), "--list"]).stdout.split("\n")
    cases = {name: int(count) for name, count in (line.split() for line in lines if line)}
    if not any(cases.values()):
        print(f"compare-leaks: {program} lists no leaks to find", file=sys.stderr)
        sys.exit(125)
    return cases


def case_of(functions, cases):
    """The case whose function is among the functions, mangled or not; None without one."""
    for function in reversed(functions):
        for case in cases:
            if re.match(case + r"\b", function) or f"{len(case)}{case}" in function:
                return case
            if re.search(r" in " + case + r"\b", function):
                return case
    return None


def memtrace_leaks(program):
    """(blocks, functions of the stack) of each finding."""
    trace = path(program + ".mtrace")
    run([memtrace, "record", "-q", "-o", trace, "--", path(program)] + arguments(program))
    report = run([memtrace, "leaks", "--format", "json", "--top", "0", trace])
    for group in json.loads(report.stdout)["treeGroups"]:
        yield group["count"], [frame["name"] for frame in group["frames"]]


def lsan_leaks(program):
    own = path(program + "-lsan")
    variables = {"LSAN_OPTIONS": "exitcode=0:max_leaks=0:fast_unwind_on_malloc=0"}
    if not os.path.exists(own):
        own = path(program)
        variables["LD_PRELOAD"] = os.environ["LSAN_LIBRARY"]
    text = run([own] + arguments(program), **variables).stderr
    if "LeakSanitizer" not in text:
        raise RuntimeError("LeakSanitizer did not run: " + text.strip()[:200])
    for part in re.split(r"\n(?=(?:Direct|Indirect) leak of )", text)[1:]:
        count = int(re.search(r"in (\d+) object", part)[1])
        yield count, re.findall(r"#\d+ 0x[0-9a-f]+ in (.*?)(?: /| \(|$)", part, re.MULTILINE)


def valgrind_leaks(program):
    document = path(program + ".xml")
    run(["valgrind", "--leak-check=full", "--show-leak-kinds=definite,indirect", "--xml=yes",
         f"--xml-file={document}", "--num-callers=50", path(program)] + arguments(program))
    for error in ElementTree.parse(document).iter("error"):
        if error.findtext("kind") in ("Leak_DefinitelyLost", "Leak_IndirectlyLost"):
            functions = [frame.findtext("fn") or "" for frame in error.find("stack")]
            yield int(error.findtext("xwhat/leakedblocks")), functions


def count_by_case(findings, cases):
    found = {}
    for count, functions in findings:
        case = case_of(functions, cases)
        found[case] = found.get(case, 0) + count
    return found


def print_table(rows):
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [str(cell).ljust(width) for cell, width in zip(row, widths)]
        print("| " + " | ".join(cells) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    print()


def compare(language, program, sums):
    cases = known_cases(program)
    found = {}
    for tool, function in zip(TOOLS, (memtrace_leaks, lsan_leaks, valgrind_leaks)):
        try:
            found[tool] = count_by_case(function(program), cases)
        except (RuntimeError, ElementTree.ParseError, subprocess.TimeoutExpired) as error:
            print(f"{tool} on {program}: {error}", file=sys.stderr)
            found[tool] = None
    rows = [["Case in " + language, "Leaked blocks"] + TOOLS]
    for case in list(cases) + [None]:
        cells = [found[tool].get(case, 0) if found[tool] is not None else "-" for tool in TOOLS]
        leaked = cases.get(case, 0)
        if any(cell != leaked for cell in cells):
            rows.append([case or "elsewhere", leaked] + cells)
    if len(rows) > 1:
        print(f"Where not all agree with what the {language} program knows of itself:\n")
        print_table(rows)
    for tool in TOOLS:
        if found[tool] is None:
            sums.append([language, tool, "-", "-", "-"])
            continue
        right = sum(min(count, found[tool].get(case, 0)) for case, count in cases.items())
        false = sum(found[tool].values()) - right
        sums.append([language, tool, right, sum(cases.values()) - right, false])


def main():
    sums = [["Program", "Tool", "Found", "Missed", "False"]]
    for language, program in PROGRAMS:
        compare(language, program, sums)
    print_table(sums)
    return any(row[1] == "memtrace" and row[3:] != [0, 0] for row in sums)


sys.exit(main())
