#!/usr/bin/env bash
# Do 80% intervals of times hold 80% of the clock's?  Nothing is run or timed: the stores and clock's figures are those that
# bench/accuracy/time/time.sh left in its folder, predicted anew by today's models of time.  Writes docs/intervals.md, which has the constants
# of sched/constants.h as they would be chosen now; with ONLY=name,… the page is $BUILD/intervals.md.
#
#   TIMES=folder   of bench/accuracy/time/time.sh   (default: $BUILD/time)
#   MACHINE=file   describes the machine that it ran on   (default: machines/measured/ of this processor, else the folder's host.conf)
#   REUSE=1        takes predictions of the last call: for work on the constants and the page alone
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/time/intervals.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
times=${TIMES:-$BUILD/time}
known=$TOP/machines/measured/$(cpu_file_name).conf
machine=${MACHINE:-$([ -s "$known" ] && echo "$known" || echo "$times/host.conf")}
in_folder intervals
[ -n "${REUSE-}" ] || rm -f "$folder"/*.judged

# What the clock said, as `pmodel report --format json` has it: medians of all rounds.
clock_of() {
    jq -s -L "$here" 'include "time"; .[0].sizes[0] as $first | join_rounds(""; "") as $all
        | {predictions: [{parameters: $first.parameters, measured: {machine: $all.measured_on,
            cpu_seconds: ($all.rows[0].measured_seconds * $all.over_plain), plain_cpu_seconds: $all.rows[0].measured_seconds,
            outside_seconds: ([$all.rows[] | select(.kind == "untimed") | .measured_seconds] | add // 0),
            timers: [$all.rows[] | select(.kind == "nest") | {key, seconds: .measured_seconds}]}}]}' "$@"
}

for name in $(program_names); do
    for kind in in_l2 beyond_llc; do
        [ ! -s "$folder/$name.$kind.judged" ] && compgen -G "$times/$name.$kind.round.*" >/dev/null || continue
        say "$name $kind: predict"
        clock_of "$times/$name.$kind".round.* >"$folder/$name.clock"
        cp "$times/$name.$kind.pmdb" "$folder/$name.pmdb"
        pmodel validate --time --measured "$folder/$name.clock" -s "$folder/$name.pmdb" -m "$machine" --format json |
            jq -c --arg case "$name $kind" '. + {case: $case}' >"$folder/judged.$name"
        mv "$folder/judged.$name" "$folder/$name.$kind.judged"
    done
done
cat "$folder"/*.judged >"$BUILD/intervals.json"
constant() { sed -n "s/.*\(X($1\|\b$1 =\),* \([0-9.]*\)[,;].*/\2/p" "$TOP/$2"; }
page=$(page_of intervals)
jq -r -s -L "$here" --arg cpu "$(cpu_name)" --argjson schedule "$(constant schedule_error sched/constants.h)" \
    --argjson down "$(constant share_downwards sched/constants.h)" --argjson up "$(constant share_upwards sched/constants.h)" \
    --argjson in_common "$(constant errors_in_common core/prediction.c)" \
    'include "intervals"; intervals_page($cpu; {schedule: $schedule, down: $down, up: $up, in_common: $in_common})' \
    "$BUILD/intervals.json" | wrap >"$page"
say "tables in $page"
