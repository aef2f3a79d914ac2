#!/usr/bin/env bash
# `make bench`: what does pmodel cost?  Ratios of CPU time (user and system, of the program alone, not
# of pmodel's set-up) within one run, over the programs of bench/apps/sizes.conf at both sizes (.time).
# docs/benchmarks.md says what each figure is.
#
# Writes $BUILD/bench.json (figures and whether they hold) and $BUILD/bench/ratios.json (each program).
# ONLY=name,… restricts figures, programs, or both.  ROUNDS and EXACT_ROUNDS: how often each program
# runs plainly, with edge counters and with timers, and with reuse distances.  A figure of an option that
# this pmodel does not have is said to be missing.  TIME_LIMIT: seconds for one run.  FIT_GROUPS: how many groups
# are fitted at a time.
# shellcheck source=bench/lib/bench.bash
. "$(dirname "$0")/../lib/bench.bash"
# shellcheck source=bench/lib/reuse.bash
. "$bench/lib/reuse.bash"
# shellcheck source=bench/lib/mca.bash
. "$bench/lib/mca.bash"
in_folder bench
rounds=${ROUNDS:-7}
exact_rounds=${EXACT_ROUNDS:-3}
cachegrind_rounds=1
time_limit=${TIME_LIMIT:-300}
FIT_GROUPS=${FIT_GROUPS:-1000 10000 100000}

# ---- what is asked for ----------------------------------------------------------------------------

program_figures="edges_geomean edges_worst edges_vs_profile_generate profile_generate_geomean edges_vs_valgrind_none reuse_exact_1 reuse_exact_1_worst reuse_exact_1_vs_cachegrind reuse_exact_4 reuse_exact_4_vs_cachegrind reuse_default reuse_second_core reuse_sampled_64 reuse_sampled_64_error reuse_sampled_64_error_mean reuse_carry reuse_bytes reuse_write_backs reuse_checkpoint reuse_memory behaviour_over_default time_over_native time_over_native_worst"
fit_figures="fit_groups_per_second fit_two_thread_efficiency fit_vs_octave fit_bytes_per_group"
interpreter_figures="reuse_interpreters reuse_interpreters_vs_cachegrind"
touch_figures="touch_stencil_64 touch_stencil_64_over_load touch_random_200mb touch_random_200mb_over_load"
predict_figures="predict_seconds predict_seconds_worst predict_growth predict_memory_mib predict_apart_seconds predict_apart_seconds_worst predict_apart_growth predict_apart_memory_mib predict_page_seconds predict_scaling_seconds"
all_figures="$program_figures $interpreter_figures $touch_figures lift_vs_objdump lift_instructions_per_second lift_indirect_resolved $fit_figures real_coverage edges_cc1 edges_cc1_over_relocation rewrite_cc1_seconds rewrite_cc1_mib probe_quick_seconds probe_full_seconds sched_vs_llvm_mca sched_loops_per_second sched_cc1_seconds bound_total_over_native bound_recording_over_native profile_over_native profile_over_native_worst intervals_over_edges trace_over_native trace_over_native_worst replay_events_per_second $predict_figures"
asked_for=${ONLY-}
figures='' programs=''
for name in ${asked_for//,/ }; do
    if [[ " $all_figures " == *" $name "* ]]; then
        figures+=" $name"
    else
        programs+="${programs:+,}$name"
    fi
done
if [ -z "$figures" ] && [ -n "$programs" ]; then
    figures=$program_figures
fi
figures=${figures:-$all_figures}
asked_programs=$programs
programs=$(ONLY=$programs program_names)
wanted() { [[ $figures == *$1* ]]; }
wants_programs() {
    local figure
    for figure in $figures; do
        if [[ " $program_figures " == *" $figure "* ]]; then return 0; fi
    done
    return 1
}
wants_exact() { wanted reuse_exact_1 || wanted reuse_carry || wanted reuse_bytes || wanted reuse_write_backs || wanted reuse_checkpoint || wanted reuse_sampled_64_error || wanted reuse_memory; }
wants_edges() { wanted edges_geomean || wanted edges_worst || wanted edges_vs_; }

# ---- times of one command ---------------------------------------------------------------------------

# Each prints seconds, or null with a message on standard error.

# cpu_seconds COMMAND...
cpu_seconds() {
    local times TIMEFORMAT='%U %S' status=0
    times=$({ time timeout "$time_limit" "$@" >/dev/null 2>"$folder/errors"; } 2>&1) || status=$?
    if [ "$status" -ne 0 ]; then
        say "status $status from: $* ($(tail -1 "$folder/errors"))"
        echo null
    else
        awk '{ print $1 + $2 }' <<<"$times"
    fi
}

# elapsed_seconds COMMAND...
elapsed_seconds() {
    local begin=$EPOCHREALTIME
    timeout "$time_limit" "$@" >/dev/null 2>"$folder/errors" || {
        say "status $? from: $* ($(tail -1 "$folder/errors"))"
        echo null
        return
    }
    awk -v begin="$begin" -v end="$EPOCHREALTIME" 'BEGIN { printf "%.6f\n", end - begin }'
}

# instrumented_seconds SIZE OPTION... -- COMMAND...: CPU time of the instrumented program, which
# `pmodel run` keeps with the run, in $folder/run.pmdb; CLOCK=wall_seconds: elapsed time.
instrumented_seconds() {
    local size=$1 store=$folder/run.pmdb
    shift
    rm -f "$store"
    if pmodel run -q -o "$store" --timeout "$time_limit" -P "N=$size" "$@" >/dev/null 2>"$folder/errors"; then
        sqlite3 "$store" "select ${CLOCK-cpu_seconds} from run"
    else
        say "$(tail -1 "$folder/errors")"
        echo null
    fi
}

# timed_seconds SIZE STORE -- COMMAND...: CPU time of the plain program and of that with timers, run one
# after the other by `pmodel run --time`, which finds its counts in a copy of STORE.
timed_seconds() {
    local size=$1 counts=$2 store=$folder/timed.pmdb
    shift 2
    cp "$counts" "$store"
    if pmodel run -q --time --time-runs 1 --no-memory -o "$store" --timeout "$time_limit" -P "N=$size" "$@" \
        >/dev/null 2>"$folder/errors"; then
        sqlite3 -separator ' ' "$store" 'select plain_seconds, cpu_seconds from timing'
    else
        say "$(tail -1 "$folder/errors")"
        echo null null
    fi
}

# ---- the programs -----------------------------------------------------------------------------------

# has_option OPTION: `pmodel run` knows it.
run_usage=$(pmodel run --help)
has_option() { [[ $run_usage == *$1* ]]; }
while read -r figure option; do
    if wanted "$figure" && ! has_option "$option"; then
        say "$figure is not measured: this pmodel has no \`pmodel run $option\`"
    fi
done <<'END'
reuse_second_core --second-core
reuse_sampled_64 --sample
reuse_carry --carry
reuse_bytes --bytes
reuse_write_backs --write-backs
reuse_checkpoint --checkpoint
behaviour_over_default --no-behaviour
END

# optional OPTION COMMAND...: what COMMAND prints, null without the option.
optional() {
    if has_option "$1"; then "${@:2}"; else echo null; fi
}

# record WAY ROUND SECONDS: of program $name at $kind.
record() {
    printf '{"program": "%s", "kind": "%s", "way": "%s", "round": %d, "seconds": %s}\n' \
        "$name" "$kind" "$1" "$2" "$3" >>"$folder/times.jsonl"
}

program_arguments_of_time() { size_value "$1" "$2.time" | tr -s ' ' '\n'; }

# The ways alternate, and with edge counters comes first in every other round.
measure_program() {
    local name=$1 kind=$2 size arguments round way timed
    rm -f exact.pmdb
    size=$(size_value "$name" "$kind")
    mapfile -t arguments < <(program_arguments_of_time "$name" "$kind")
    local plain=("./$name" "${arguments[@]//'{N}'/$size}")
    local asked=("./$name" "${arguments[@]}")
    if wanted time_; then
        rm -f counts.pmdb
        pmodel run -q --no-memory -o counts.pmdb -P "N=$size" -- "${asked[@]}" >/dev/null 2>"$folder/errors" ||
            say "$(tail -1 "$folder/errors")"
    fi
    for ((round = 1; round <= rounds; round++)); do
        local ways=(native)
        if wants_edges; then
            if ((round % 2)); then ways=(native edges); else ways=(edges native); fi
        fi
        if wanted profile_generate; then ways+=(profile_generate); fi
        if wanted valgrind_none && ((round <= cachegrind_rounds)); then ways+=(valgrind_none); fi
        if ((round <= exact_rounds)); then
            if wants_exact; then ways+=(exact); fi
            if wanted reuse_exact_4; then ways+=(exact_4); fi
            if wanted reuse_default || wanted behaviour_over; then ways+=(default); fi
            if wanted behaviour_over; then ways+=(no_behaviour); fi
            if wanted reuse_second_core; then ways+=(second_core); fi
            if wanted reuse_sampled_64; then ways+=(sampled); fi
            if wanted reuse_carry; then ways+=(carry); fi
            if wanted reuse_bytes; then ways+=(bytes); fi
            if wanted reuse_write_backs; then ways+=(write_backs); fi
            if wanted reuse_checkpoint; then ways+=(checkpoint); fi
        fi
        if wanted reuse_exact_1_vs_cachegrind || wanted reuse_exact_4_vs_cachegrind; then
            if ((round <= cachegrind_rounds)); then ways+=(cachegrind); fi
        fi
        if wanted time_; then ways+=(timed); fi
        if ! wants_edges && ! wanted profile_generate && ! wanted time_ && ((round > exact_rounds)); then return; fi
        for way in "${ways[@]}"; do
            case $way in
            native) record native $round "$(cpu_seconds "${plain[@]}")" ;;
            profile_generate) # its profile is not kept, or the next round would add to it
                record profile_generate $round "$(GCOV_PREFIX=$folder/profile cpu_seconds \
                    "./$name.profiled" "${plain[@]:1}")"
                rm -rf "$folder/profile"
                ;;
            valgrind_none) record valgrind_none $round "$(cpu_seconds valgrind --tool=none "${plain[@]}")" ;;
            edges) record edges $round "$(instrumented_seconds "$size" --no-memory -- "${asked[@]}")" ;;
            exact)
                record exact $round "$(instrumented_seconds "$size" --no-behaviour --block 64 -- "${asked[@]}")"
                if ((round == 1)); then mv run.pmdb exact.pmdb || true; fi
                ;;
            exact_4) record exact_4 $round "$(instrumented_seconds "$size" --no-behaviour --block 32,64,128,4096 -- "${asked[@]}")" ;;
            default) record default $round "$(instrumented_seconds "$size" -- "${asked[@]}")" ;;
            no_behaviour)
                record no_behaviour $round "$(optional --no-behaviour instrumented_seconds "$size" --no-behaviour -- \
                    "${asked[@]}")"
                ;;
            second_core)
                record native_wall $round "$(elapsed_seconds "${plain[@]}")"
                record second_core $round "$(CLOCK=wall_seconds optional --second-core instrumented_seconds \
                    "$size" --no-behaviour --block 64 --second-core -- "${asked[@]}")"
                ;;
            sampled)
                record sampled $round "$(optional --sample instrumented_seconds \
                    "$size" --no-behaviour --block 64 --sample 1/64 -- "${asked[@]}")"
                if ((round == 1)) && wanted reuse_sampled_64_error; then
                    measured sampled "$(optional_fields --sample sampled_error exact.pmdb run.pmdb)"
                fi
                ;;
            checkpoint) record checkpoint $round "$(optional --checkpoint instrumented_seconds "$size" --no-behaviour --block 64 --checkpoint 1 -- "${asked[@]}")" ;;
            carry) record carry $round "$(optional --carry instrumented_seconds "$size" --no-behaviour --block 64 --carry -- "${asked[@]}")" ;;
            bytes) record bytes $round "$(optional --bytes instrumented_seconds "$size" --no-behaviour --block 64 --bytes -- "${asked[@]}")" ;;
            write_backs) record write_backs $round "$(optional --write-backs instrumented_seconds "$size" --no-behaviour --block 64 --write-backs -- "${asked[@]}")" ;;
            timed)
                timed=$(timed_seconds "$size" counts.pmdb -- "${asked[@]}")
                record timed_native $round "${timed% *}"
                record timed $round "${timed#* }"
                ;;
            # Given caches, because on virtual machines it detects nonsense.
            cachegrind) record cachegrind $round "$(cpu_seconds valgrind --tool=cachegrind \
                --cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 --LL=1048576,16,64 \
                --cachegrind-out-file=/dev/null "${plain[@]}")" ;;
            esac
        done
    done
}

# measure_memory NAME KIND: after the exact run.
measure_memory() {
    local name=$1 kind=$2 size arguments
    size=$(size_value "$name" "$kind")
    mapfile -t arguments < <(program_arguments_of_time "$name" "$kind")
    if [ -s exact.pmdb ]; then
        measured memory "$(reuse_memory exact.pmdb "./$name" "${arguments[@]//'{N}'/$size}")"
    else
        measured memory '"missing": true'
    fi
}

# measured WAY FIELDS: what is not a time, of program $name at $kind.
measured() {
    printf '{"program": "%s", "kind": "%s", "way": "%s", %s}\n' "$name" "$kind" "$1" "$2" >>"$folder/measured.jsonl"
}
optional_fields() {
    if has_option "$1"; then "${@:2}"; else printf '"missing": true'; fi
}

started=$SECONDS
flags=$(pmodel flags)
cd "$folder"
: >times.jsonl
: >measured.jsonl
if wants_programs; then
    for name in $programs; do
        # shellcheck disable=SC2086 # the flags are words
        build_program "$name" "./$name" $flags || die "$name does not build"
        if wanted profile_generate; then
            build_program "$name" "./$name.profiled" -fprofile-generate || die "$name does not build"
        fi
        for kind in in_l2 beyond_llc; do
            say "$name $kind"
            measure_program "$name" "$kind"
            if wanted reuse_memory; then measure_memory "$name" "$kind"; fi
        done
    done
fi

# ---- interpreters -----------------------------------------------------------------------------------

# measure_interpreter NAME OPTION... -- COMMAND...: with the libraries that have its code.
measure_interpreter() {
    local name=$1 kind=script round way options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    say "$name"
    for ((round = 1; round <= exact_rounds; round++)); do
        record native $round "$(cpu_seconds "$@")"
        record exact $round "$(instrumented_seconds 1 --no-behaviour --block 64 "${options[@]}" --unused N -- "$@")"
        if ((round <= cachegrind_rounds)); then
            record cachegrind $round "$(cpu_seconds valgrind --tool=cachegrind --cache-sim=yes \
                --I1=32768,8,64 --D1=32768,8,64 --LL=1048576,16,64 --cachegrind-out-file=/dev/null "$@")"
        fi
    done
}

mv times.jsonl programs.jsonl
: >times.jsonl
if wanted reuse_interpreters; then
    work=$apps/interpreters/work
    measure_interpreter lua5.4 -- lua5.4 "$work.lua"
    measure_interpreter python3 -- /usr/bin/python3 "$work.py"
    measure_interpreter perl -- perl "$work.pl"
    measure_interpreter sqlite3 --lib libsqlite3 -- sqlite3 :memory: ".read $work.sql"
fi
mv times.jsonl interpreters.jsonl
mv programs.jsonl times.jsonl

# ---- single touches ---------------------------------------------------------------------------------

: >touches.jsonl
if wanted touch_; then
    say "touches of single blocks"
    gcc -O2 -I"$TOP" -o ./touches "$here/touches.c" "$BUILD/libpm_runtime.a"
    ./touches --json 1 6 >touches.jsonl
fi

# ---- the tools --------------------------------------------------------------------------------------

# Lifting a large program (20 MB of text), as a user does it for one routine, beside a disassembler.
: >lift.jsonl
if wanted lift_vs_objdump || wanted lift_instructions_per_second; then
    say "lifting and disassembling cc1"
    large=$(gcc -print-prog-name=cc1)
    instructions=$(pmodel loops --format json --routine main "$large" | jq .statistics.instructions)
    for ((round = 1; round <= 3; round++)); do
        printf '{"lift": %s, "objdump": %s, "instructions": %s}\n' \
            "$(elapsed_seconds pmodel loops --routine main "$large")" \
            "$(elapsed_seconds objdump -d "$large")" "$instructions" >>lift.jsonl
    done
fi

# Indirect jumps of what GCC made of C and Fortran, as installed.
: >resolved.jsonl
if wanted lift_indirect_resolved; then
    say "resolving indirect jumps"
    for file in /usr/bin/bash /usr/bin/git /usr/bin/perl /usr/bin/python3 \
        "$(gcc -print-file-name=libc.so.6)" "$(gcc -print-file-name=libm.so.6)" \
        "$(gfortran -print-file-name=libgfortran.so)" \
        "$(gcc -print-prog-name=cc1)" "$(gfortran -print-prog-name=f951)"; do
        pmodel loops --summary --plain --format csv "$file" |
            awk -F , 'NR > 1 { printf "{\"indirect\": %d, \"resolved\": %d}\n", $10, $11 }' >>resolved.jsonl
    done
fi

# Models of ten sizes: groups of ssor, drawn again and again (fit_groups.c), and Octave.
: >fit.jsonl
: >qp.jsonl
link_with_fit() { # FILE SOURCE: a program of this folder with the libraries of $BUILD
    local libraries
    read -ra libraries <"$BUILD/ldlibs"
    gcc -std=gnu11 -O2 -fopenmp -I"$TOP" -o "$1" "$here/$2" -Wl,--start-group "$BUILD"/libpm_{core,binlift,fit}.a \
        -Wl,--end-group "${libraries[@]}"
}
if wanted fit_groups || wanted fit_two || wanted fit_bytes; then
    say "models of ten sizes"
    # shellcheck disable=SC2086
    build_program ssor ./ssor $flags
    rm -f fit.pmdb
    pmodel run -q -o fit.pmdb --block 32,64,128,4096 -P N=5:14:1 -- ./ssor '{N}' 1 >/dev/null
    link_with_fit ./fit_groups fit_groups.c
    for groups in $FIT_GROUPS; do
        for ((round = 1; round <= 3; round++)); do
            for threads in 1 2; do
                ./fit_groups fit.pmdb "$groups" "$threads" | jq -c ". + {round: $round}" >>fit.jsonl
            done
        done
        jq -rs --argjson groups "$groups" 'map(select(.groups == $groups))
            | "\($groups) groups: \(map(select(.threads == 2) | .groups / .seconds) | max | round) a second, \(
                map(.bytes_per_group) | max) bytes each"' fit.jsonl >&2
    done
fi
if wanted fit_vs_octave; then
    say "quadratic programs, with Octave too"
    command -v octave-cli >/dev/null || sh "$TOP/tests/setup" real
    read -ra libraries <"$BUILD/ldlibs"
    gcc -std=gnu11 -O2 -I"$TOP" -fopenmp -o write_programs "$TOP/tests/truth/quadratic_programs.c" \
        -Wl,--wrap=pm_qp_solve,--wrap=pm_qp_nearest "$BUILD/libpm_fit.a" "$BUILD/libpm_core.a" "${libraries[@]}"
    link_with_fit ./qp_times qp_times.c
    ./write_programs fit >problems
    for ((round = 1; round <= 3; round++)); do
        printf '{"ours": %s, "octave": %s}\n' "$(./qp_times problems 500 || echo null)" \
            "$(octave-cli --norc "$here/qp_times.m" problems 500 2>/dev/null || echo null)" >>qp.jsonl
    done
fi

# Real programs, by callgrind's counts.
: >coverage.jsonl
if wanted real_coverage; then
    say "coverage of real programs"
    bash "$here/real_coverage.sh" "$folder/real" >coverage.jsonl || say "status $? from real_coverage.sh"
    jq -r '[.program, (if .own then .covered / .own else "?" end)] | @tsv' coverage.jsonl >&2
fi

# A large program with edge counters, and what it costs to make it.
: >cc1.jsonl
if wanted edges_cc1 || wanted rewrite_cc1; then
    say "cc1 with edge counters"
    bash "$here/cc1_costs.sh" "$folder/cc1" >cc1.jsonl || say "status $? from cc1_costs.sh"
fi

# Probing this machine, alone and beside a program that computes.
: >probes.jsonl
for mode in quick full; do
    wanted "probe_${mode}_seconds" || continue
    command -v stress-ng >/dev/null || sh "$TOP/tests/setup" real
    [ "$mode" = quick ] && options=(--quick) || options=()
    for beside in nothing stress-ng; do
        say "a probe of this machine, $mode, beside $beside"
        stress=
        [ "$beside" = nothing ] || { stress-ng --quiet --cpu 1 & stress=$!; }
        begin=$(date +%s.%N)
        pmodel probe "${options[@]}" -o probe.conf 2>/dev/null
        jq -n -c --arg mode "$mode" --arg beside "$beside" --argjson from "$begin" --argjson until "$(date +%s.%N)" \
            '{mode: $mode, beside: $beside, seconds: ($until - $from)}' >>probes.jsonl
        [ -z "$stress" ] || { kill "$stress"; wait "$stress" || true; }
    done
done

# Schedules of all innermost loops of a library, and llvm-mca's answers for the same loops; distinct ones count.  One thread each.
: >schedules.jsonl
sched_machine=icelake-sp sched_llvm_cpu=icelake-server
if wanted sched_vs_llvm_mca || wanted sched_loops_per_second; then
    say "schedules of loops, and llvm-mca"
    large=$(ldconfig -p | awk '/libgsl\.so\.27 / { print $NF; exit }')
    pmodel loops --schedule "$large" --all -m "$sched_machine" --format json |
        jq -r '[.loops[] | select(.cycles != null)] | unique_by(.hash) | to_entries[] | "\(.key + 1)\t\(.value.bytes)"' >schedule.loops
    mca_assembler schedule.loops >schedule.s
    for ((round = 1; round <= 3; round++)); do
        printf '{"loops": %s, "ours": %s, "mca_loops": %s, "mca": %s}\n' "$(wc -l <schedule.loops)" \
            "$(OMP_NUM_THREADS=1 cpu_seconds pmodel loops --schedule "$large" --all -m "$sched_machine" --format json)" \
            "$(grep -c BEGIN schedule.s)" \
            "$(cpu_seconds llvm-mca-19 "${mca_options[@]}" -skip-unsupported-instructions=any -mcpu="$sched_llvm_cpu" -iterations=100 -o schedule.mca schedule.s)" >>schedules.jsonl
    done
fi
: >schedule_cc1.jsonl
if wanted sched_cc1_seconds; then
    say "schedules of all loops of cc1"
    printf '{"seconds": %s}\n' "$(OMP_NUM_THREADS=1 cpu_seconds pmodel loops --schedule "$(gcc -print-prog-name=cc1)" --all -m "$sched_machine" --format json)" \
        >>schedule_cc1.jsonl
fi

# ---- figures ----------------------------------------------------------------------------------------

figures_of() {
    jq -n -L "$here" --arg figures "$figures" --slurpfile times times.jsonl --slurpfile measured measured.jsonl --slurpfile lift lift.jsonl \
        --slurpfile fit fit.jsonl --slurpfile qp qp.jsonl --slurpfile resolved resolved.jsonl --slurpfile coverage coverage.jsonl \
        --slurpfile cc1 cc1.jsonl --slurpfile interpreters interpreters.jsonl --slurpfile touches touches.jsonl \
        --slurpfile probes probes.jsonl --slurpfile schedules schedules.jsonl --slurpfile schedule_cc1 schedule_cc1.jsonl "include \"bench_figures\"; $1"
}
# shellcheck disable=SC2016
figures_of 'ratios($times; $measured)' >ratios.json
# Lower bounds have figures and a page of their own.
echo '[]' >"$BUILD/bound_costs.json"
if wanted bound_; then bash "$bench/accuracy/time/bound.sh"; fi
echo '[]' >"$BUILD/profile_costs.json"
if wanted profile_over; then COSTS=1 ONLY=$programs bash "$bench/accuracy/counts/profile.sh"; fi
for costs in intervals_cost trace_costs replay_costs predict_costs; do echo '[]' >"$BUILD/$costs.json"; done
if wanted intervals_over_edges; then bash "$here/intervals_cost.sh"; fi
if wanted trace_over_native; then bash "$here/trace.sh"; fi
if wanted predict_; then ONLY=$asked_programs bash "$here/predict.sh"; fi
if wanted replay_; then COSTS=1 bash "$bench/accuracy/parallel/replay.sh"; fi
# shellcheck disable=SC2016
figures_of 'figures(ratios($times; $measured); $lift; $resolved; $fit; $qp; $coverage; $cc1; $interpreters; $touches; $probes; $schedules; $schedule_cc1; $figures | split("\\s+"; ""))' >"$folder/figures.json"
jq -s --arg figures "$figures" 'add | map(select(.name as $name | $figures | split("\\s+"; "") | index($name)))' \
    "$folder/figures.json" "$BUILD/bound_costs.json" "$BUILD/profile_costs.json" "$BUILD/intervals_cost.json" "$BUILD/trace_costs.json" \
    "$BUILD/replay_costs.json" "$BUILD/predict_costs.json" >"$BUILD/bench.json"

table() { column -t -s "$(printf '\t')"; }
if [ -s times.jsonl ]; then
    jq -r 'def show: if . == null then "-" else . * 1000 | round / 1000 end;
        ["program", "size", "native s", "edges", "exact", "exact 4", "default", "second core", "1/64", "error", "carry",
            "checkpoint", "memory", "cachegrind", "timed", "profile-generate", "valgrind none"],
        (.[] | [.program, .kind, ((.native_seconds, .edges, .exact, .exact_4, .default, .second_core, .sampled,
            .sampled_error, .carry_over_exact, .checkpoint_over_exact, .memory, .cachegrind, .timed, .profile_generate,
            .valgrind_none) | show)])
        | @tsv' ratios.json | table
    echo
fi
[ -z "${ONLY-}" ] || say "a part: ONLY=$ONLY"
say "$((SECONDS - started)) s; figures in $BUILD/bench.json, the programs' ratios in $folder/ratios.json"
jq -r '["figure", "value", "unit", "target", ""],
    (.[] | [.name, (if .value == null then "?" else .value * 1000 | round / 1000 end), .unit, .target,
        if .target == null then "" elif .holds then "holds" else "does not hold" end]) | @tsv' "$BUILD/bench.json" | table
