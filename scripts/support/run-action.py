"""Runs a composite GitHub Action, or a job of a GitLab pipeline, as a runner would.

It knows what the files of this repository use, and fails at anything else: a construct that it
skipped silently would prove nothing.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

import yaml


def fail(message):
    print(f"run-action: {message}", file=sys.stderr)
    sys.exit(125)


def load(path):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def check_keys(mapping, known, where):
    unknown = set(mapping) - set(known)
    if unknown:
        fail(f"{where}: {', '.join(sorted(unknown))} is not known here")


# GitHub


class Expressions:
    """`${{ … }}`: properties of contexts, and their comparison with a text."""

    def __init__(self, contexts):
        self.contexts = contexts

    def value(self, text):
        text = text.strip()
        if len(text) >= 2 and text[0] == text[-1] == "'":
            return text[1:-1].replace("''", "'")
        value = self.contexts
        for name in text.split("."):
            if not re.fullmatch(r"[A-Za-z_][\w-]*", name) or not isinstance(value, dict):
                fail(f"the expression '{text}' is not known here")
            value = value.get(name, "")
        if isinstance(value, dict):
            fail(f"the expression '{text}' is not known here")
        return value

    def condition(self, text):
        text = re.sub(r"^\$\{\{(.*)\}\}$", r"\1", str(text).strip())
        left, operator, right = re.match(r"(.*?)(?:(==|!=)(.*))?$", text.strip()).groups()
        if not operator:
            return self.value(left) not in ("", "false")
        return (self.value(left) == self.value(right)) == (operator == "==")

    def filled(self, text):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda match: self.value(match.group(1)), str(text))


def read_outputs(path):
    """The lines NAME=VALUE of a file of GITHUB_OUTPUT; of the form with << nothing is used here."""
    outputs = {}
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            name, sign, value = line.partition("=")
            if not sign or "<<" in name:
                fail(f"'{line}' is no output")
            outputs[name] = value
    return outputs


def run_step(step, number, expressions, environment, temp):
    """Runs a step; returns its status and its outputs."""
    where = step.get("name", f"step {number}")
    check_keys(step, ["name", "id", "if", "shell", "run", "env", "working-directory"], where)
    if step["shell"] != "bash":
        fail(f"{where}: the shell {step['shell']} is not known here")
    script = os.path.join(temp, f"step-{number}.sh")
    with open(script, "w", encoding="utf-8") as file:
        file.write(expressions.filled(step["run"]))
    output = os.path.join(temp, f"output-{number}")
    open(output, "w", encoding="utf-8").close()
    variables = dict(environment, GITHUB_OUTPUT=output)
    for name, value in step.get("env", {}).items():
        variables[name] = expressions.filled(value)
    folder = expressions.filled(step.get("working-directory", "."))
    print(f"##[group]{where}", flush=True)
    status = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
        env=variables,
        cwd=os.path.join(variables["GITHUB_WORKSPACE"], folder),
    ).returncode
    print("##[endgroup]", flush=True)
    with open(variables["GITHUB_PATH"], encoding="utf-8") as file:
        for line in reversed(file.read().splitlines()):
            if line not in environment["PATH"].split(":"):
                environment["PATH"] = f"{line}:{environment['PATH']}"
    return status, read_outputs(output)


def run_github(root, words):
    action = load(os.path.join(root, "action.yml"))
    check_keys(
        action, ["name", "description", "author", "branding", "inputs", "outputs", "runs"], "action"
    )
    if action["runs"]["using"] != "composite":
        fail("only composite actions are known here")
    given = dict(word.partition("=")[::2] for word in words)
    check_keys(given, action["inputs"], "the inputs")
    inputs = {}
    for name, description in action["inputs"].items():
        if description.get("required") and name not in given:
            fail(f"the input {name} is missing")
        inputs[name] = given.get(name, str(description.get("default", "")))
    with tempfile.TemporaryDirectory() as temp:
        environment = dict(os.environ)
        environment.update(
            GITHUB_ACTIONS="true",
            CI="true",
            GITHUB_WORKSPACE=os.getcwd(),
            GITHUB_ACTION_PATH=root,
            RUNNER_TEMP=temp,
        )
        environment["GITHUB_PATH"] = os.path.join(temp, "path")
        open(environment["GITHUB_PATH"], "w", encoding="utf-8").close()
        summary = environment.setdefault("GITHUB_STEP_SUMMARY", os.path.join(temp, "summary"))
        contexts = {"inputs": inputs, "steps": {}}
        expressions = Expressions(contexts)
        status = 0
        for number, step in enumerate(action["runs"]["steps"]):
            # Without `always()` in its condition a step is skipped after a failure.
            if status or not expressions.condition(step.get("if", "'true'")):
                continue
            status, outputs = run_step(step, number, expressions, environment, temp)
            if "id" in step:
                contexts["steps"][step["id"]] = {"outputs": outputs}
        for name, description in action["outputs"].items():
            print(f"output {name}={expressions.filled(description['value'])}")
        size = os.path.getsize(summary) if os.path.exists(summary) else 0
        print(f"summary of {size} bytes")
        return status


# GitLab


def merged(base, over):
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else value
    return result


def pipeline(root, path):
    """A pipeline with what it includes; local files are looked for in this repository."""
    document = load(path)
    result = {}
    includes = document.pop("include", [])
    for entry in includes if isinstance(includes, list) else [includes]:
        check_keys(entry, ["local"], "include")
        result = merged(result, load(os.path.join(root, entry["local"].lstrip("/"))))
    return merged(result, document)


def job_of(document, name, depth=0):
    if name not in document:
        fail(f"there is no job {name}")
    if depth > 10:
        fail(f"{name} extends itself")
    job = dict(document[name])
    parents = job.pop("extends", [])
    result = {}
    for parent in parents if isinstance(parents, list) else [parents]:
        result = merged(result, job_of(document, parent, depth + 1))
    return merged(result, job)


def run_gitlab(root, words):
    if len(words) != 2:
        fail("usage: run-action gitlab PIPELINE.yml JOB")
    document = pipeline(root, words[0])
    job = job_of(document, words[1])
    check_keys(
        job,
        ["stage", "image", "variables", "before_script", "script", "after_script", "artifacts"],
        words[1],
    )
    environment = dict(os.environ, CI="true", GITLAB_CI="true", CI_PROJECT_DIR=os.getcwd())
    for variables in document.get("variables", {}), job.get("variables", {}):
        environment.update({name: str(value) for name, value in variables.items()})
    # One shell for both, as the runner does it; the last part in a shell of its own.
    lines = job.get("before_script", []) + job["script"]
    shell = ["bash", "-eo", "pipefail", "-c"]
    status = subprocess.run(shell + ["\n".join(lines)], env=environment).returncode
    if job.get("after_script"):
        subprocess.run(shell + ["\n".join(job["after_script"])], env=environment)
    artifacts = job.get("artifacts", {})
    check_keys(artifacts, ["when", "paths", "reports", "expire_in"], "artifacts")
    if status == 0 or artifacts.get("when") == "always":
        for path in artifacts.get("paths", []):
            for file in sorted(glob.glob(path)):
                print(f"artifact {file}")
        for kind, path in artifacts.get("reports", {}).items():
            if not os.path.exists(path):
                fail(f"the report {path} is missing")
            print(f"report {kind}={path}")
    return status


def main():
    root, *words = sys.argv[1:]
    kinds = {"github": run_github, "gitlab": run_gitlab}
    if not words or words[0] not in kinds:
        fail("usage: run-action github INPUT=VALUE… | gitlab PIPELINE.yml JOB")
    sys.exit(kinds[words[0]](root, words[1:]))


main()
