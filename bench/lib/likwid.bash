# Bandwidths by likwid-bench, which others wrote, to compare those of a probe with: sourced by bench/accuracy/machines/probe.sh.
# shellcheck shell=bash

# likwid_vectors: the widest vectors that this processor has, as likwid-bench names its kernels.
likwid_vectors() {
    case $(grep -m1 ^flags /proc/cpuinfo) in
    *avx512f*) echo _avx512 ;;
    *avx*) echo _avx ;;
    *) echo _sse ;;
    esac
}

# likwid_gbs KERNEL KIB: 10⁹ bytes a second of one thread; nothing if it does not start. It takes six seconds.
likwid_gbs() {
    likwid-bench -t "$1$(likwid_vectors)" -w "S0:$2kB:1" -s 1 2>/dev/null | awk '$1 == "MByte/s:" { print $2 / 1000 }'
}

# likwid_compare PROBE.json: an object for each level and kind, PROBE's bandwidth and likwid-bench's, 10⁹ bytes a second.
likwid_compare() {
    local level kind kib probed measured kernel
    jq -r -L "$here" 'include "probe"; bandwidths[]' "$1" | while read -r level kind kib probed; do
        case $kind in read) kernel=load ;; write) kernel=store ;; copy) kernel=copy ;; esac
        measured=$(likwid_gbs "$kernel" "$kib")
        jq -n --arg level "$level" --arg kind "$kind" --argjson kib "$kib" --argjson probed "$probed" --argjson likwid "${measured:-null}" \
            '{level: $level, kind: $kind, kib: $kib, probed: $probed, likwid: $likwid}'
    done | jq -s .
}
