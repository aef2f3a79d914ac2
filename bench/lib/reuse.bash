# What bench/cost/bench.sh measures of reuse distances beside time: memory, and how far sampled histograms are
# off.  `. "$bench/lib/reuse.bash"`; PATH has pmodel.  Each function prints a JSON object's fields.
# shellcheck shell=bash

# bins STORE: of all histograms in blocks of 64 bytes together, "kind low high accesses histograms" a line;
# kind: cold, reuse, beyond.
bins() {
    pmodel show --as histograms "$1" --block 64 --format csv |
        sqlite3 -cmd '.mode csv' -cmd '.import /dev/stdin lines' -cmd '.mode list' -cmd ".separator ' '" \
            -cmd '.nullvalue -' :memory: "select record, nullif(distance_low, ''), nullif(distance_high, ''),
                sum(loads + stores), count(*) from lines group by 1, 2, 3"
}

# miss_ratios STORE: "blocks ratio" for fully associative LRU caches of 512, 1024 … blocks, up to 2^24.
miss_ratios() {
    bins "$1" | awk '
        { all += $4; kind[NR] = $1; low[NR] = $2; high[NR] = $3; count[NR] = $4 }
        END {
            for (c = 512; c <= 2 ^ 24; c *= 2) {
                misses = 0
                for (i = 1; i <= NR; i++)
                    if (kind[i] != "reuse" || low[i] >= c) misses += count[i]
                    else if (high[i] >= c) misses += count[i] * (high[i] + 1 - c) / (high[i] + 1 - low[i])
                printf "%d %.9f\n", c, (all > 0 ? misses / all : 0)
            }
        }'
}

# sampled_error EXACT SAMPLED: how far the miss ratios of two stores of one run are apart, over the caches
# of miss_ratios.
sampled_error() {
    join <(miss_ratios "$1" | sort) <(miss_ratios "$2" | sort) | awk '
        { error = $2 > $3 ? $2 - $3 : $3 - $2; sum += error; if (error > largest) largest = error }
        END { if (NR) printf "\"largest\": %.6f, \"mean\": %.6f", largest, sum / NR
              else printf "\"largest\": null, \"mean\": null" }'
}

# peak_kib COMMAND...: largest memory in use of a run.
peak_kib() {
    if command time -q -o used -f %M "$@" >/dev/null 2>errors; then
        tail -1 used
    else
        say "status $? from: $* ($(tail -1 errors))"
        echo null
    fi
}

# reuse_memory EXACT PROGRAM ARGUMENT...: largest memory in use of the plain program and of its copy with
# the exact analysis in blocks of 64 bytes, and what there is to keep: distinct blocks, and bins that hold
# accesses, by the store EXACT of the same run.
reuse_memory() {
    local exact=$1 program=$2 plain analysed
    shift 2
    rm -rf raw copy
    mkdir raw
    pmodel run --instrument -q -o copy "$program" >&2
    plain=$(peak_kib "$program" "$@")
    analysed=$(PMODEL_OUT=$PWD/raw PMODEL_BLOCK=64 peak_kib ./copy "$@")
    bins "$exact" | awk -v plain="$plain" -v analysed="$analysed" '
        $1 == "cold" { blocks += $4 }
        $1 == "reuse" { n += $5 }
        END { printf "\"plain_kib\": %s, \"analysed_kib\": %s, \"blocks\": %.0f, \"bins\": %d",
            plain, analysed, blocks, n }'
    rm -rf raw copy
}
