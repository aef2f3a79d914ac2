#!/usr/bin/env bash
# A part of `make validate`: innermost loops of the example applications, OpenBLAS (its kernels for Haswell), FFTW and GSL, as they run
# alone on this machine (bench/accuracy/machines/loops_alone.sh), beside what `pmodel loops --schedule` predicts from the probed description of this processor and
# from shipped files, and beside llvm-mca 19 on the same bytes.
#
# Which loops: schedule.jq, `chosen`; they are listed in bench/accuracy/machines/schedule_loops.tsv.  Files of which too many loops have a wide interval
# are run again, up to twice; then the narrowest interval of a loop counts.  The probed description is that of machines/measured/, or else the first
# one that bench/accuracy/machines/probe.sh has made in this build.
#
# Writes docs/schedule.md, bench/accuracy/machines/schedule_loops.tsv, $BUILD/schedule.json (an object for each loop) and $BUILD/schedule_figures.json.
# Alone:
#     BUILD=$PWD/build PATH=$PWD/build/bin:$PATH bash bench/accuracy/machines/schedule.sh
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../../lib/bench.bash"
# shellcheck source=bench/lib/mca.bash
. "$bench/lib/mca.bash"
# shellcheck source=bench/lib/alone_files.bash
. "$bench/lib/alone_files.bash"
new_folder schedule
schedule_seconds=${SCHEDULE_SECONDS:-300} # that the schedules of a file may take

# jq_here OPTION... PROGRAM FILE: PROGRAM knows schedule.jq.
jq_here() {
    local options=("${@:1:$#-2}") program=${*: -2:1}
    jq -L "$here" "${options[@]}" "include \"schedule\"; $program" "${*: -1}"
}

# ---- the machine and its loops ----------------------------------------------------------------------

[ -s "$BUILD/loops_alone.json" ] || bash "$here/loops_alone.sh"
cp "$BUILD/loops_alone.json" "$folder/alone.json"

# AGAIN=0: what was disturbed stays so.
for ((round = 0; round < ${AGAIN:-2}; round++)); do
    for name in $(jq_here -r too_few "$folder/alone.json"); do
        say "$name: much was disturbed; run its loops alone again"
        run_alone "$name" >"$folder/again"
        jq_here -c --slurpfile again "$folder/again" 'narrowed($again[0])' "$folder/alone.json" >"$folder/narrowed"
        mv "$folder/narrowed" "$folder/alone.json"
    done
done
jq_here -c chosen "$folder/alone.json" >"$folder/chosen.json"
jq_here -r list "$folder/chosen.json" >"$here/schedule_loops.tsv"
jq -r '.[] | "\(.number)\t\(.code)"' "$folder/chosen.json" >"$folder/loops"

# ---- predictions ------------------------------------------------------------------------------------

cpu=$(cpu_file_name)
shipped=$(while read -r pattern name; do
    # shellcheck disable=SC2053 # a pattern
    if [[ $pattern != '#'* && $cpu == $pattern ]]; then echo "$name" && break; fi
done <"$here/schedule_machines.conf")
probed=$TOP/machines/measured/$cpu.conf
[ -s "$probed" ] || probed=$BUILD/probe/1.conf

# schedules MACHINE RESULT: of the routines that the chosen loops are in, by place.  Where code is inlined, as in the applications, the
# name of a loop need not be a routine's: there all are scheduled.
schedules() {
    local machine=$1 result=$2 name routines which
    for name in $(jq -r '[.[].file] | unique[]' "$folder/chosen.json"); do
        routines=$(jq -r --arg name "$name" '[.[] | select(.file == $name and .library != "applications") | .loop | split("/")[0]] | unique | join(",")' \
            "$folder/chosen.json")
        which=(--all --causes)
        [ -z "$routines" ] || which=("$routines")
        timeout "$schedule_seconds" pmodel loops --schedule "$(alone_arguments "$name" | tail -1)" "${which[@]}" \
            -m "$machine" --format json || say "$name for $machine: no schedules, status $?"
    done | jq_here -s -c by_place - >"$result"
}

# The machines that llvm knows, too; of one that is only shown there the model is another processor's.
jq -R -s -L "$TOP/machines/checks" --arg shipped "$shipped" 'include "llvm-mca";
    [llvm_machines[] | select(.isa == "x86-64" and (.counted or .machine == $shipped)) | {machine, cpu, counted}]' \
    "$TOP/machines/checks/llvm.machines" >"$folder/llvm"
llvm=$(jq -r '.[] | "\(.machine) \(.cpu)"' "$folder/llvm")
while read -r machine llvm_cpu; do
    say "$machine: pmodel loops --schedule, and llvm-mca for $llvm_cpu"
    schedules "$machine" "$folder/ours.$machine"
    mca_cycles "$llvm_cpu" "$folder/loops" "$folder/mca.$machine" >"$folder/theirs.$machine"
done <<<"$llvm"
if [ -s "$probed" ]; then
    say "pmodel loops --schedule for this processor, as it was probed"
    schedules "$probed" "$folder/ours.probed"
fi
mca_kinds "$folder/mca.$(head -1 <<<"$llvm" | cut -d' ' -f1)" >"$folder/kinds"

# by_machine PREFIX: an object of the files PREFIX.MACHINE, as texts.
by_machine() {
    local file
    for file in "$folder/$1".*; do
        jq -R -s --arg machine "${file##*/"$1".}" '{key: $machine, value: .}' "$file"
    done | jq -s from_entries
}
by_machine ours | jq 'map_values(fromjson)' >"$folder/ours"
by_machine theirs >"$folder/theirs"
jq_here -c --slurpfile ours "$folder/ours" --slurpfile theirs "$folder/theirs" --rawfile kinds "$folder/kinds" \
    'with_predictions($ours[0]) | with_theirs($theirs[0]) | with_kinds($kinds)' "$folder/chosen.json" >"$BUILD/schedule.json"

# ---- initiation intervals ---------------------------------------------------------------------------

# Of small loops of the same files, those of the modulo scheduler beside the least ones, by an integer program.
modulo_loops=300 modulo_seconds=5
: >"$folder/intervals"
TMP=$folder
# shellcheck disable=SC2034 # truth_tool reads it
TRUTH_LIBRARIES="machines sched fit" TRUTH_LINK=-lglpk
# shellcheck source=tests/truth/tools.sh
. "$TOP/tests/truth/tools.sh"
truth_tool modulo_programs
mapfile -t files < <(for name in $(jq -r '[.[].file] | unique[]' "$folder/chosen.json"); do alone_arguments "$name" | tail -1; done)
for machine in icelake-sp zen4 itanium2; do
    say "$machine: least initiation intervals by an integer program"
    "$folder/modulo_programs" "$TOP/machines/$machine.conf" "$modulo_loops" "$modulo_seconds" 0 "${files[@]}" 2>"$folder/modulo.$machine" |
        sed "s/^/$machine\t/" >>"$folder/intervals"
    say "$(tail -1 "$folder/modulo.$machine")"
done

# ---- figures and page -------------------------------------------------------------------------------

jq_here --arg shipped "$shipped" --slurpfile llvm "$folder/llvm" --rawfile intervals "$folder/intervals" \
    'schedule_figures($shipped; $llvm[0]) + interval_figures($intervals)' "$BUILD/schedule.json" >"$BUILD/schedule_figures.json"
jq_here -r --arg cpu "$(cpu_name) ($cpu)" --arg shipped "$shipped" --slurpfile llvm "$folder/llvm" \
    --rawfile reasons "$here/schedule_differences.conf" --rawfile intervals "$folder/intervals" \
    'page($cpu; $shipped; $llvm[0]; $reasons), interval_section($intervals)' "$BUILD/schedule.json" | wrap >"$TOP/docs/schedule.md"
jq -r '.[] | "\(.name) \(.value)"' "$BUILD/schedule_figures.json"
say "figures in $BUILD/schedule_figures.json, tables in $TOP/docs/schedule.md"
