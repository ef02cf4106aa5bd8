"""Validates SARIF logs: check-sarif.py SCHEMA LOG…"""

import json
import sys

import jsonschema


def problems(validator, path):
    """What is wrong with a log, one line each."""
    try:
        with open(path, encoding="utf-8") as file:
            log = json.load(file)
    except (OSError, ValueError) as error:
        return [str(error)]
    errors = sorted(validator.iter_errors(log), key=lambda error: list(map(str, error.absolute_path)))
    return [f"/{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in errors]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    checker = jsonschema.validators.validator_for(schema)
    checker.check_schema(schema)
    validator = checker(schema, format_checker=checker.FORMAT_CHECKER)
    failed = False
    for path in sys.argv[2:]:
        found = problems(validator, path)
        failed = failed or bool(found)
        for line in found[:20]:
            print(f"{path}: {line}")
        if not found:
            print(f"{path}: valid")
    sys.exit(1 if failed else 0)


main()
