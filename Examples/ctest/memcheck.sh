#!/bin/bash
# Puts a CTest suite through its own memory check, once as it is and once with broken tests.
# Ends with 0 when CTest said what it should. $MEMTRACE: the tool, if not in PATH.
set -euo pipefail
cd "$(dirname "$0")"

step() { # name, whether CTest should fail, value of BROKEN
    local status=0
    cmake -S . -B "build/$1" -DBROKEN="$3" >/dev/null
    cmake --build "build/$1" >/dev/null
    (cd "build/$1" && ctest -T memcheck) || status=$?
    echo "== $1: status $status, expected $2"
    [[ $((status != 0)) == "$2" ]]
}

rm -rf build
step clean 0 OFF
step broken 1 ON
