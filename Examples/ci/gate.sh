#!/bin/bash
# Walks the gate through a project's life: clean, a leak is planted, it is tolerated, it grows.
# Ends with 0 when the gate said what it should each time. $MEMTRACE: the tool, if not in PATH.
set -euo pipefail
cd "$(dirname "$0")"
memtrace=${MEMTRACE:-memtrace}

step() { # name, expected status, number of forgotten lists, options …
    local name=$1 expected=$2 forgotten=$3 status=0 outputs=()
    shift 3
    make -s -B FORGOTTEN="$forgotten"
    mkdir -p reports
    for kind in json github summary sarif junit gitlab; do
        outputs+=(--output "$kind=reports/$name.$kind")
    done
    "$memtrace" check "$@" "${outputs[@]}" --output text -- ./test-runner || status=$?
    echo "== $name: status $status, expected $expected"
    [ "$status" = "$expected" ]
}

rm -rf gate.yml reports
step clean 0 0
step planted 86 3
step accepted 0 3 --baseline gate.yml --update-baseline
step tolerated 0 3 --baseline gate.yml
step grown 86 5 --baseline gate.yml
step mended 86 0 --baseline gate.yml --fail-on-stale
