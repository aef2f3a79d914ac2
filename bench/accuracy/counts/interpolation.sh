#!/usr/bin/env bash
# A part of `make validate`: how far misses are off that `--interpolate` takes from the nearest block size,
# where only those that `pmodel run` measures by default are there.  The programs are those of
# bench/apps/sizes.conf at the largest size of `fit`.
#
# Writes $BUILD/interpolation.json, which bench/accuracy/counts/associativity.sh puts into docs/reuse.md.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
in_folder interpolation
cd "$folder"

# Block sizes, and the caches that are asked for in them: lines, and pages of a TLB.
lines='32 128' line_caches=32K,256K,1M,8M
pages='16384 65536' page_caches=16blocks,64blocks,256blocks,1024blocks
measured=64,4096

# misses STORE BLOCK CACHES OPTION...: [accesses, misses] of each.
misses() {
    local store=$1 block=$2 caches=$3
    shift 3
    pmodel query "$store" --block "$block" --cache "$caches" --format json "$@" | jq -c '[.answers[] | [.accesses, .misses]]'
}

: >all.jsonl
for name in $(program_names); do
    say "$name: block sizes that were not measured"
    size=$(size_value "$name" fit)
    size=${size##* }
    mapfile -t arguments < <(program_arguments "$name" fit)
    # shellcheck disable=SC2046 # the flags are words
    build_program "$name" "./$name" $(pmodel flags)
    rm -f all.pmdb
    pmodel run -q -o all.pmdb --block "$measured,${lines// /,},${pages// /,}" -P "N=$size" -- "./$name" "${arguments[@]}" >/dev/null
    # The same run, as if the others had not been asked for.
    cp all.pmdb part.pmdb
    sqlite3 part.pmdb "delete from histogram where block_bytes not in ($measured);
        update run set block_sizes = '$measured'"
    for block in $lines $pages; do
        caches=$line_caches
        [[ " $pages " != *" $block "* ]] || caches=$page_caches
        jq -n -c --arg name "$name" --argjson size "$size" --argjson block "$block" \
            --argjson own "$(misses all.pmdb "$block" "$caches")" \
            --argjson made "$(misses part.pmdb "$block" "$caches" --interpolate)" \
            '{$name, $size, $block, $own, $made}' >>all.jsonl
    done
done
jq -s . all.jsonl >"$BUILD/interpolation.json"
