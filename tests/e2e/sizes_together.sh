# Every application with all block sizes in one run, where larger blocks follow from the smallest ones, has the
# distances of the same sizes one at a time.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

# The same layout of memory in all runs.  Where the system does not let programs ask for that, unit/reuse_records
# still compares random traces.
if ! setarch -R true 2>/dev/null; then
    pass "this system always gives programs random addresses: nothing to compare"
    exit
fi
sizes='8 32 64 128 4096 2097152'
together=${sizes// /,}

# measure STORE SIZES COMMAND...: the environment has as many bytes whatever the sizes are, as the stack is below it.
measure() {
    local store=$1 blocks=$2 padding
    shift 2
    padding=$(printf "%$((${#together} - ${#blocks}))s" '')
    setarch -R "$PMODEL" run -q -o "$store" --block "$blocks" --env "PADDING=$padding" -P N=1 -- "$@" >out 2>err
}

# bins STORE SIZE: all histograms, of which distances below 16 are one bin, whether they are in the store or not.
bins() {
    pmodel show --as histograms "$1" --block "$2" --format csv |
        sqlite3 -cmd '.mode csv' -cmd '.import /dev/stdin bins' :memory: "
            with short as (select *, record = 'reuse' and 0 + distance_high < 16 as is_short from bins)
            select key, \"group\", thread, record, iif(is_short, 15, distance_low) low, iif(is_short, 15, distance_high),
                iif(is_short, '', distance_mean), sum(loads), sum(stores)
            from short group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7"
}

while read -r app arguments; do
    [ -e "$app" ] || truth_app "$app" || {
        fail "$app builds"
        continue
    }
    # shellcheck disable=SC2086 # several arguments
    if ! measure together.pmdb "$together" "./$app" $arguments; then
        fail "$app $arguments: all sizes are measured in one run" "$(tail -3 err)"
        continue
    fi
    for size in $sizes; do
        # shellcheck disable=SC2086
        measure alone.pmdb "$size" "./$app" $arguments || fail "$app $arguments: blocks of $size alone" "$(tail -3 err)"
        bins together.pmdb "$size" >together.bins
        bins alone.pmdb "$size" >alone.bins
        check "$app $arguments: blocks of $size bytes with others and alone" cmp together.bins alone.bins
        check "$app $arguments: $size: there is something to compare" test "$(wc -l <alone.bins)" -gt 10
        rm -f alone.pmdb
    done
    rm -f together.pmdb
done <<'APPS'
heat 12 3
adi 8 1
cg 6 3
ssor 8 2
sweep 8 1
multigrid 8 2
fft 256 2
matmul 24 ijk
matmul 24 ikj
matmul 32 blocked
APPS
