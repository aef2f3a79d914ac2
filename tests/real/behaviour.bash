# Programs of programs.bash as plain binaries: does the instrumented one behave as the plain one, and how
# much of it is instrumented? `. "$TOP/tests/real/behaviour.bash"` after lib.sh.
#
#   same_behaviour NAME SCALE    output, standard error, status and written files, with edge counters and
#                                with memory records, alone and with its libraries
#   nothing_irregular NAME SCALE after one of the others: the run with edge counters noted no jump that was
#                                not foreseen, and no routine whose counts break conservation
#   measure_coverage NAME SCALE  executions of instructions that pmodel's counters account for, beside
#                                those that callgrind counts (tests/truth/coverage.c), in the program
#                                and its libraries
# shellcheck shell=bash
. "$TOP/tests/truth/tools.sh"
. "$TOP/tests/real/programs.bash"

# prepare NAME SCALE: $folder, with the program's input in it.
prepare() {
    folder=$PWD/$1.$2
    rm -rf "$folder"
    mkdir "$folder"
    cd "$folder" && choose_program "$@" && cd .. || return
}

# run_apart WAY COMMAND...: in a new folder, always of the same name, because programs write it into their
# files. It then is $folder/WAY, where output and standard error are kept too.
run_apart() {
    local way=$1 status=0
    shift
    mkdir "$folder/work"
    [ -z "$user" ] || chown -R "$user" "$folder"
    (
        cd "$folder/work" || exit
        [ -z "$user" ] || export TMPDIR=$folder # the test's own is for who runs it
        ${user:+setpriv --reuid="$user" --clear-groups} "$@" </dev/null >../output 2>../errors
    ) || status=$?
    mv "$folder/output" "$folder/errors" "$folder/work"
    mv "$folder/work" "$folder/$way"
    [ $status -eq 0 ] || echo "status $status: $(tail -n 3 "$folder/$way/errors")"
    return $status
}

# run_instrumented WAY OPTION...: the same by `pmodel run`, into the store $folder/WAY.pmdb.
run_instrumented() {
    local way=$1
    shift
    run_apart "$way" pmodel run -q -o "$folder/$way.pmdb" -P N=1 --exe "$program" "$@" -- "${command[@]}"
}

# compare_behaviour WAY OPTION...: is what the instrumented program did what the plain one did?
compare_behaviour() {
    local way=$1 message begin=$SECONDS
    shift
    if ! message=$(run_instrumented "$way" "$@"); then
        fail "$name runs with $way and ends with the same status" "$message"
    elif ! diff -r "$folder/plain" "$folder/$way" >"$folder/difference"; then
        fail "$name behaves as without pmodel, with $way" "$(head -n 5 "$folder/difference")"
    else
        pass "$name behaves as without pmodel, with $way"
    fi
    echo "    $name with $way: $((SECONDS - begin)) s"
    sqlite3 "$folder/$way.pmdb" 'select notes from run' 2>/dev/null | sed '/^$/d; s/^/    /'
}

same_behaviour() {
    local name=$1 message folder program libraries recorded command user
    prepare "$@" || {
        fail "$name is there, with its input" "$folder"
        return 1
    }
    message=$(run_apart plain "${command[@]}") || {
        fail "$name runs without pmodel" "$message"
        return 1
    }
    compare_behaviour counters --no-memory
    compare_behaviour records --block 64
    [ ${#libraries[@]} -gt 0 ] || return 0
    echo "    libraries: ${libraries[*]##*/}"
    compare_behaviour "counters in its libraries too" --no-memory "${libraries[@]/#/--lib=}"
    [ "${recorded[0]}" != all ] || recorded=("${libraries[@]}")
    compare_behaviour "records in its libraries too" --block 64 "${recorded[@]/#/--lib=}"
}

nothing_irregular() {
    local notes
    if ! notes=$(sqlite3 "$PWD/$1.$2/counters.pmdb" "select count(*), group_concat(notes, '') from run"); then
        fail "the run of $1 is in a store" "$notes"
    elif [[ $notes == 0* || $notes == *"not foreseen"* || $notes == *"inexact"* ]]; then
        fail "$1: all jumps are foreseen and all counts exact" "$notes"
    else
        pass "$1: all jumps are foreseen and all counts exact"
    fi
}

# library_paths: files of $libraries, as the dynamic linker finds them for $program.
library_paths() {
    local library
    for library in "${libraries[@]}"; do
        realpath -e "$(ldd "$program" | awk -v name="$library.so" 'index($1, name) == 1 { print $3 }')"
    done
}

# Sets covered, own, all; false with a message.
measure_coverage() {
    local name=$1 folder program libraries recorded command user runner objects
    prepare "$@" || { echo "no $name"; return 1; }
    run_instrumented counters --no-memory "${libraries[@]/#/--lib=}" || return
    # Without --skip-plt=no, callgrind books the linkage table's instructions on the calls.
    runner=(valgrind --tool=callgrind --trace-children=yes --dump-instr=yes --compress-strings=no
        --compress-pos=no --skip-plt=no "--callgrind-out-file=$folder/callgrind.%p")
    run_apart callgrind "${runner[@]}" "${command[@]}" || return
    mapfile -t objects < <(library_paths)
    "$TMP/coverage" "$folder/counters.pmdb" N=1 "$program" "${objects[@]}" -- "$folder"/callgrind.* \
        >"$folder/coverage" || return
    read -r covered own all <"$folder/coverage"
}

real_coverage() {
    local name=$1 text covered own all
    if ! measure_coverage "$@" >message; then
        fail "how much of $name is covered" "$(cat message)"
        return
    fi
    text="$name: $(percent "$covered" "$own") of the executed instructions of what is instrumented are counted"
    text+=" ($(percent "$covered" "$all") of all objects')"
    if at_least "$covered" "$own" 0.99; then
        pass "$text"
    else
        fail "$text" "less than 99%: $covered of $own"
    fi
    sed 's/^/    not counted: /; 1d' "$PWD/$1.$2/coverage" | head -n 5
}

percent() { # PART WHOLE
    awk -v part="$1" -v whole="$2" 'BEGIN { printf "%.3f%%", (whole > 0 ? 100 * part / whole : 0) }'
}

at_least() { # PART WHOLE SHARE
    awk -v part="$1" -v whole="$2" -v share="$3" 'BEGIN { exit !(whole > 0 && part >= share * whole) }'
}

truth_tool coverage || fail "the tool that reads stores and callgrind's counts builds" "see above"
