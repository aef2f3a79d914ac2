#!/usr/bin/env bash
# `make validate`: how far off are predictions?  Each program of bench/apps/sizes.conf is measured at
# small sizes, and what the models of these predict for twice and four times the largest is compared
# with a measured run.  Cachegrind, which is not ours, counts the misses of one size as well.
#
# It calls irregular.sh, builds.sh and, by folder, counts/, machines/, time/ and parallel/ what bench/README.md lists.
#
# Writes $BUILD/validation.json (figures and whether they hold) and docs/validation.md (tables); with
# ONLY=name,… the page is $BUILD/validation.md, because it is a part.  REUSE=1 takes the measurements
# of the last time, where the program is the same: for work on the models alone.  JOBS: programs at
# a time.  $BUILD/validate/seconds: how long each part took.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../lib/bench.bash"
in_folder validate
blocks=64,4096
time_limit=${TIME_LIMIT:-300} # seconds; a larger size that needs more is left out, and named
l1=32768,8,64                 # size, ways, line: cachegrind's first level
last_level=1048576,16,64

# cachegrind_misses WAYS COMMAND...: {"refs": data accesses, "misses": of D1} of the code that stands in
# the program's own source file; libraries share the cache, but are not counted.
cachegrind_misses() {
    local ways=$1
    shift
    timeout "$((4 * time_limit))" valgrind --tool=cachegrind --cache-sim=yes --I1="$l1" \
        --D1="32768,$ways,64" --LL="$last_level" --cachegrind-out-file=cachegrind.out "$@" \
        >/dev/null 2>&1 || return 1
    awk -v apps="$apps/" '
        /^events: / { for (i = 2; i <= NF; i++) column[$i] = i }
        /^fl=/ { own = index($0, apps) > 0 }
        /^[0-9]/ && own {
            refs += $column["Dr"] + $column["Dw"]
            misses += $column["D1mr"] + $column["D1mw"]
        }
        END { if (!refs) exit 1; printf "{\"refs\": %.0f, \"misses\": %.0f}", refs, misses }' cachegrind.out
}

# The misses of one size by cachegrind: 8 ways as processors have, and one set of 512 ways, which is
# what pmodel models.  null where it did not end in time.
against_cachegrind() {
    local name=$1 size=$2 arguments eight full
    arguments=$(size_value "$name" fit.run)
    # shellcheck disable=SC2086 # the arguments are words
    eight=$(cachegrind_misses 8 "./$name" ${arguments//\{N\}/$size}) || eight=null
    # shellcheck disable=SC2086
    full=$(cachegrind_misses 512 "./$name" ${arguments//\{N\}/$size}) || full=null
    printf '{"size": %s, "ways_8": %s, "ways_512": %s}\n' "$size" "$eight" "$full"
}

# Everything about one program, in its folder; the result is NAME.json.
validate_program() {
    local name=$1 fit predict arguments largest
    mkdir -p "$folder/$name"
    cd "$folder/$name"
    fit=$(size_value "$name" fit)
    predict=$(size_value "$name" predict)
    mapfile -t arguments < <(program_arguments "$name" fit)
    # shellcheck disable=SC2046 # the flags are words
    build_program "$name" new $(pmodel flags)
    printf '%s\n' "$blocks" "$fit" "$predict" "${arguments[@]}" >settings
    if [ -z "${REUSE-}" ] || ! cmp -s new "$name" || ! cmp -s settings measured.settings; then
        rm -f models.pmdb measured.pmdb cachegrind.json
    fi
    mv new "$name"
    mv settings measured.settings
    say "$name: measure at N = $fit"
    pmodel run -q --no-libm --no-behaviour -o models.pmdb --block "$blocks" -P "N=${fit// /,}" -- "./$name" "${arguments[@]}" >run.out
    pmodel fit --format json models.pmdb >fit.json
    say "$name: predict and measure at N = $predict"
    pmodel validate -q --no-libm -s models.pmdb --keep measured.pmdb --block "$blocks" --timeout "$time_limit" \
        --format json -P "N=${predict// /,}" -- "./$name" "${arguments[@]}" >validation.json 2>errors ||
        say "$name: $(tail -1 errors)"
    # The same runs by the paper's own partition; nothing is measured again.
    cp models.pmdb literal.pmdb
    PM_FIT_WITHOUT=partition pmodel fit literal.pmdb >/dev/null
    pmodel validate -q --no-libm -s literal.pmdb --keep measured.pmdb --block "$blocks" --timeout "$time_limit" \
        --format json -P "N=${predict// /,}" -- "./$name" "${arguments[@]}" >literal.json 2>errors ||
        say "$name: $(tail -1 errors)"
    largest=${fit##* }
    if [ ! -s cachegrind.json ]; then
        say "$name: count by cachegrind at N = $((2 * largest))"
        against_cachegrind "$name" "$((2 * largest))" >cachegrind.json
    fi
    jq --arg name "$name" --arg fit "$fit" --arg run "$(size_value "$name" fit.run)" \
        --argjson twice "$((2 * largest))" --slurpfile fitted fit.json --slurpfile cachegrind cachegrind.json \
        --slurpfile literal literal.json \
        '{name: $name, fit: $fit, run: $run, twice: $twice, fitted: $fitted[0].summary,
          cachegrind: $cachegrind[0], literal: $literal[0].sizes, sizes: .sizes}' validation.json >"$folder/$name.json"
    say "$name: done"
}

# Parts with a folder write pages of their own; the others are in validation.md.
all_parts=(programs irregular builds counts/{lifting,associativity,misses,policies,behaviour} machines/{machines,loops_alone,probe}
    time/bound counts/profile time/time machines/{schedule,blocks} parallel/{parallel,replay} time/peaks)
read -ra parts <<<"${PARTS-${all_parts[*]}}"
[ -z "${ONLY-}" ] || parts=(programs) # ONLY names programs, and the others are about more
for part in "${parts[@]}"; do
    [[ " ${all_parts[*]} " == *" $part "* ]] || die "PARTS: there is no part $part, only ${all_parts[*]}"
done

validate_programs() {
    local name running=0
    for name in $names; do
        rm -f "$folder/$name.json"
        if [ "$running" -ge "${JOBS:-$(nproc)}" ]; then
            wait -n || true
            running=$((running - 1))
        fi
        validate_program "$name" &
        running=$((running + 1))
    done
    wait
}

names=$(program_names)
started=$SECONDS
for part in "${parts[@]}"; do
    began=$SECONDS
    case $part in
        programs) validate_programs ;;
        *) bash "$here/$part.sh" ;;
    esac
    touch "$folder/seconds"
    sed -i "\\| $part\$|d" "$folder/seconds"
    echo "$((SECONDS - began)) $part" >>"$folder/seconds"
done

# What a part left, if it has ever run; with ONLY nothing, as the other parts are not of these programs.
left_by() { if [ -z "${ONLY-}" ] && [ -s "$1" ]; then cat "$1"; else echo '[]'; fi; }
results=()
for name in $names; do
    [ -s "$folder/$name.json" ] || die "$name could not be validated (the messages above say why)"
    results+=("$folder/$name.json")
done
left_by "$folder/irregular.json" >"$folder/irregular.shown"
left_by "$folder/builds.json" >"$folder/builds.shown"
jq -s -L "$here" 'include "validation"; figures' "${results[@]}" >"$folder/figures.json"
jq -L "$here" 'include "irregular"; irregular_figures' "$folder/irregular.shown" >"$folder/irregular_figures.json"
jq -r -L "$here" 'include "irregular"; irregular_section' "$folder/irregular.shown" >"$folder/irregular.md"
jq -L "$here" 'include "builds"; [builds_figures]' "$folder/builds.shown" >"$folder/builds_figures.json"
cat "$folder"/{figures,irregular_figures,builds_figures}.json >"$folder/all_figures"
for file in "$folder/lifting" "$BUILD"/{misses,policies,behaviour,machines,loops_alone,probe,bound,profile,time,schedule,parallel,replay,peaks}; do
    left_by "${file}_figures.json"
done >>"$folder/all_figures"
jq -s add "$folder/all_figures" >"$BUILD/validation.json"
page=$(page_of validation)
jq -s -r -L "$here" --arg cpu "$(cpu_name)" --slurpfile figures "$folder/figures.json" \
    --rawfile irregular "$folder/irregular.md" \
    --slurpfile builds "$folder/builds.shown" --slurpfile builds_figures "$folder/builds_figures.json" \
    --slurpfile irregular_figures "$folder/irregular_figures.json" \
    'include "validation"; page($cpu; $figures[0] + $irregular_figures[0] + $builds_figures[0]; $irregular; $builds[0])' "${results[@]}" | wrap >"$page"
say "$((SECONDS - started)) s; figures in $BUILD/validation.json, tables in $page"
jq -r '.[] | [.name, (.value * 1e5 | round / 1e5), (.target | if type == "array" then map(tostring) | join("..") else . end), if .holds then "holds" else "does not hold" end] | @tsv' \
    "$BUILD/validation.json" | column -t -s "$(printf '\t')"
