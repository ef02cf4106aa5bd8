#!/bin/bash
# Builds a library for Python and puts its tests through the gate: one passes, the other one leaks
# and is named. Ends with 0 when the gate said what it should.
# $MEMTRACE: the tool, if not in PATH; $PYTHON: the interpreter.
set -euo pipefail
cd "$(dirname "$0")"
memtrace=${MEMTRACE:-memtrace}

step() { # expected status, tests
    local status=0
    "$memtrace" check -- \
        "${PYTHON:-python3}" -B -m pytest -q -p no:cacheprovider -k "$2" || status=$?
    echo "== $2: status $status, expected $1"
    [[ $status == "$1" ]]
}

mkdir -p build
cc -g -O1 -shared -fPIC -o build/libcounting.so counting.c
step 0 counts
step 86 counter
