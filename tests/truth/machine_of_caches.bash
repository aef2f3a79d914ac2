# A machine of which only the caches matter.
# shellcheck shell=bash

# machine_of_caches FILE LEVEL...: writes a machine file.  A LEVEL is what stands in its `cache` section but for times, which
# are those of no machine: 'size = 32KiB ways = 8 replacement = fifo'.  Lines have 64 bytes; levels are called L1, L2, ….
machine_of_caches() {
    local file=$1 number=0 level
    shift
    {
        cat <<'MACHINE'
title = "A core with caches"
sources = "none"
clock_mhz = 1000
issue_width = 1
vector_width = 256
out_of_order = false
fma = false
unit core { does = "everything" }
cost { of = {int_add}  latency = 1  units = {core} }
MACHINE
        for level in "$@"; do
            number=$((number + 1))
            echo "cache L$number { line = 64  latency = 1  miss_penalty = 1  exposed = 1  $level }"
        done
    } >"$file"
}
