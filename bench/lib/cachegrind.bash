# Misses by cachegrind, a tool of valgrind.  `. "$bench/lib/cachegrind.bash"` behind bench.bash.
# shellcheck shell=bash

# count_misses D1 LL COMMAND...: JSON, of the code that stands in the program's own source file, and of memset
# and its like, whose accesses pmodel records where they are called (the dynamic linker's own are few); null
# where it did not end within time_limit seconds.  Instructions have a first level that holds them all, so
# that few come to the last level.
count_misses() {
    local d1=$1 ll=$2
    shift 2
    # shellcheck disable=SC2154 # of the script
    timeout "$time_limit" valgrind --tool=cachegrind --cache-sim=yes --I1=1048576,16,64 --D1="$d1" --LL="$ll" \
        --cachegrind-out-file=cachegrind.out "$@" >/dev/null 2>errors || {
        say "status $? from cachegrind with --D1=$d1 --LL=$ll: $(tail -1 errors)"
        echo null
        return
    }
    # shellcheck disable=SC2154 # of bench.bash
    awk -v apps="$apps/" '
        /^events: / { for (i = 2; i <= NF; i++) column[$i] = i }
        /^fl=/ { own = index($0, apps) > 0 }
        /^fn=/ { like_memset = $0 ~ /^fn=_*(mem|bcopy|bzero|str|stp)[a-z]*_(avx|sse|evex|erms)/ }
        /^[0-9]/ && (own || like_memset) {
            accesses += $column["Dr"] + $column["Dw"]
            first += $column["D1mr"] + $column["D1mw"]
            last += $column["DLmr"] + $column["DLmw"]
        }
        END { printf "{\"accesses\": %.0f, \"first\": %.0f, \"last\": %.0f}", accesses, first, last }' cachegrind.out
}
