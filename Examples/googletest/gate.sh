#!/bin/bash
# Builds the tests and puts them through the gate: one passes, the other one leaks and is named.
# Ends with 0 when the gate said what it should. $MEMTRACE: the tool, if not in PATH.
set -euo pipefail
cd "$(dirname "$0")"
memtrace=${MEMTRACE:-memtrace}

step() { # expected status, tests
    local status=0
    "$memtrace" check --output text --output junit=build/memtrace.xml -- \
        build/stack_test --gtest_brief=1 --gtest_filter="$2" || status=$?
    echo "== $2: status $status, expected $1"
    [[ $status == "$1" ]]
}

cmake -S . -B build >/dev/null
cmake --build build >/dev/null
step 0 '*.TheLastNumberComesFirst'
step 86 '*'
