#!/usr/bin/env bash
# Makes .venv and installs the package in it with the extras that are named.  make runs it:
#     [PYTHON=python3.13] [TORCH_INDEX=] ./install.sh serve fast files
# Everything is checked by the hashes of uv.lock except torch, whose build depends on the machine, and what its CUDA
# builds bring: pip installs that by its pin.  After a run that was killed or found the disk full, .venv is made again.
set -euo pipefail
cd "$(dirname "$0")"
bin=.venv/bin
[ "${OS-}" != Windows_NT ] || bin=.venv/Scripts
unfinished=.venv/.unfinished

stop() { printf 'make: %s\n' "$1" >&2; exit 1; }

version() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true; }

is_suitable() { [[ " $suitable " == *" $(version "$1") "* ]]; }

free_mb() { df -Pm "$1" | awk 'NR == 2 { print $4 }'; }

is_full() { [[ $1 == *"No space left"* || $1 == *"quota exceeded"* ]] || [ "$(free_mb .)" -lt 50 ]; }

# Runs a command, and prints its errors when it has ended.  A full disk gets one line instead.
try() {
    local errors status=0 temporary=${TMPDIR:-/tmp}
    { errors=$("$@" 2>&1 >&3); } 3>&1 || status=$?
    if [ $status != 0 ] && is_full "$errors"; then
        stop "the disk is full. .venv takes 2 GB, with CUDA 7 GB; free are $(free_mb .) MB in $PWD, $(
            free_mb "$temporary") MB in $temporary and $(free_mb ~) MB in $HOME. Free some, then run make again."
    fi
    [ -z "$errors" ] || printf '%s\n' "$errors" >&2
    [ $status = 0 ] || { [ $status -gt 128 ] || rm -f "$unfinished"; exit $status; }
}

# Sets python to the first candidate of a suitable version.
choose_python() {
    local found='' but_last=${suitable% *}
    local -a candidates=(python3 python3.14 python3.13 python3.12 python3.11 python)
    [ -z "${PYTHON-}" ] || candidates=("$PYTHON")
    for python in "${candidates[@]}"; do
        if is_suitable "$python"; then return; fi
        [ -z "$(version "$python")" ] || found+="${found:+, }$python is $(version "$python")"
    done
    stop "Seq2See needs Python ${but_last// /, } or ${suitable##* }; ${found:-${PYTHON:-python3} is missing}. $(
        )Install one, or give its path: make PYTHON=/path/to/python3 ..."
}

suitable=$(sed -nE 's/.*:: Python :: (3\.[0-9]+)".*/\1/p' pyproject.toml | paste -sd ' ' -)
if [ -e "$unfinished" ] || ! is_suitable "$bin/python" || ! "$bin/python" -c 'import pip' 2>/dev/null; then
    choose_python
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        stop "$python lacks the module ensurepip. On Debian and Ubuntu run: apt install python$(version "$python")-venv"
    [ ! -e .venv/pyvenv.cfg ] || echo ".venv is not complete or has another Python: making it again with $python"
    try mkdir -p .venv
    rm -rf .venv/* .venv/.installed-*
    try touch "$unfinished"
    try "$python" -m venv .venv
fi
try touch "$unfinished"
[ -x "$bin/uv" ] || try "$bin/python" -m pip install --quiet --no-compile -c constraints.txt uv

if [ $# != 0 ]; then
    gpu=$(ls /proc/driver/nvidia/version 2>/dev/null || command -v nvidia-smi || true)
    cpu_builds=
    [ "$(uname -s)" != Linux ] || [ -n "$gpu" ] || cpu_builds=https://download.pytorch.org/whl/cpu
    index=${TORCH_INDEX-$cpu_builds}
    by_pip=$(sed -nE 's/^name = "((torch|triton|nvidia|cuda)[a-z0-9-]*)"$/--no-install-package \1/p' uv.lock)
    # shellcheck disable=SC2048,SC2086  # words
    UV_PROJECT_ENVIRONMENT=.venv try "$bin/uv" sync --quiet --locked --inexact --no-python-downloads \
        --python "$bin/python" ${*/#/--extra } $by_pip
    try "$bin/python" -m pip install --no-compile --retries 1 ${index:+--extra-index-url "$index"} \
        -c constraints.txt torch
fi
rm "$unfinished"
