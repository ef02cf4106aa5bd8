# Shared by the scripts of this folder; source it. Nothing here writes to standard output.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
}

fail() {
    say "$*"
    exit 125
}

# `--help` prints the comment at the top of a script; some leave it to the program that has their arguments.
case ${0##*/} in
memtrace | test | bench | run-action) ;;
*)
    if [[ ${1:-} == --help || ${1:-} == -h ]]; then
        sed -n '2,${ /^#/!q; s/^# \{0,1\}//p; }' "$0"
        exit 0
    fi
    ;;
esac

# Fails unless every selected program was among those that ran: a mistyped name would compare nothing.
check_selected() { # the names that ran, separated by blanks; then the selected ones
    local ran=$1 name
    shift
    for name in "$@"; do
        [[ " $ran " == *" $name "* ]] || fail "there is no program '$name'"
    done
}

# Prints the installed Debian packages, and the names that they stand for: libdw1t64 for libdw1 in newer systems.
installed_packages() {
    dpkg-query -W -f '${db:Status-Status} ${Package}, ${Provides}\n' |
        sed -n 's/^installed //p' | tr ',' '\n' | sed 's/^ *//; s/ .*//'
}

# Installs the Debian packages that are missing. Says what to do when it cannot.
need_packages() {
    command -v dpkg-query >/dev/null || return 0
    local missing=() package installed
    installed=$'\n'$(installed_packages)$'\n'
    for package in "$@"; do
        [[ $installed == *$'\n'"$package"$'\n'* ]] || missing+=("$package")
    done
    ((${#missing[@]})) || return 0

    local as_root=()
    if ((EUID != 0)); then
        command -v sudo >/dev/null ||
            fail "needs packages; as root: apt-get update && apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    say "installing ${missing[*]}"
    local log
    log=$(mktemp)
    # A fresh machine may be installing its updates: that is waited for. The lists are then its to renew.
    if ! {
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q || true
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}"
    } </dev/null >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        fail "cannot install packages; as root: apt-get update && apt-get install ${missing[*]}"
    fi
    rm -f "$log"
}

# What building takes, beside the Swift toolchain.
build_packages=(git libdw-dev libiberty-dev libunwind-dev libzstd-dev libc6-dev pkg-config binutils)

need_toolchain() {
    command -v swift >/dev/null ||
        fail "needs a Swift toolchain, 6.1 or newer, on PATH: https://www.swift.org/install/linux/"
    # One that was unpacked without the packages it needs ends with a message of the loader.
    local said
    said=$(swift --version 2>&1) ||
        fail "swift does not run: ${said##*$'\n'}; its packages: https://www.swift.org/install/linux/"
}

# Builds a product; silent unless it fails.
build() {
    local log
    log=$(mktemp)
    if ! (cd "$root" && swift build "$@") </dev/null >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        fail "the build failed"
    fi
    rm -f "$log"
}

# The release build of the tool, as it is installed. Swift's libraries are linked statically: the launcher starts in half
# of the time, which every command that is recorded waits for.
build_memtrace() {
    build -c release --static-swift-stdlib --product memtrace
}

# What the plugin compiles and links the recorder with, but for folders and debug information.
recorder_flags() {
    sed -n '/let flags = \[/,/\]$/p' "$root/Plugins/BuildInterposer/BuildInterposer.swift" |
        grep -o '"-[^"\\]*"' | tr -d '"' | grep -vxE -- '-I|-g'
}
