#!/bin/bash
# Installs memtrace under a prefix (scripts/install.sh PREFIX): bin, lib/memtrace, the header, the man page and shell completions.
# The result needs no Swift toolchain, only libdw1, libzstd1 and, for stacks, libunwind8.
source "$(dirname "${BASH_SOURCE[0]}")/support/common.sh"

if (($# != 1)) || [[ $1 == -* ]]; then
    echo "usage: install.sh PREFIX" >&2
    exit 64
fi
prefix=$1
case $(realpath -m -- "$prefix") in
*[\ :$]*) fail "the recorder cannot be preloaded from '$prefix': a path in LD_PRELOAD has no space, colon or \$" ;;
esac

need_packages "${build_packages[@]}"
need_toolchain
say "building memtrace"
build_memtrace
built=$root/.build/release

# DESTDIR is for packagers: the files go there, but are meant for PREFIX.
target=${DESTDIR:-}$prefix
install -D -m 755 -s "$built/memtrace" "$target/bin/memtrace"
install -D -m 644 "$built/memtrace_memtrace.resources/libmemtrace.so" \
    "$target/lib/memtrace/libmemtrace.so"
install -D -m 644 "$root/Sources/CMemtrace/include/memtrace.h" "$target/include/memtrace.h"
install -D -m 644 "$root/docs/man/memtrace.1" "$target/share/man/man1/memtrace.1"
gzip -9 -n -f "$target/share/man/man1/memtrace.1"

completion() {
    mkdir -p "$(dirname "$2")"
    "$target/bin/memtrace" --generate-completion-script "$1" >"$2"
}
completion bash "$target/share/bash-completion/completions/memtrace"
completion zsh "$target/share/zsh/site-functions/_memtrace"
completion fish "$target/share/fish/vendor_completions.d/memtrace.fish"
say "installed memtrace in $target"
