# What the scripts have in common that run the rewriter alone on programs of this folder:
# `. "$TOP/tests/rewrite/rewrite.bash"` after tests/lib.sh.  Builds the driver as $tool.
# shellcheck shell=bash

programs=$TOP/tests/rewrite
runtime=$BUILD/lib/pmodel/libpmodel-rt.so
tool=$TMP/instrument_tool

check "the driver is built" build_instrument_tool || exit 1

# aside COMMAND...: in a folder of its own, which is its $TMP, beside what else runs: one for each processor.
# join_asides: waits for all, and reports in the order in which they were begun.
asides=()
aside() {
    local folder=$TMP/aside.${#asides[@]}
    asides+=("$folder")
    mkdir "$folder"
    while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do
        wait -n
    done
    (TMP=$folder && cd "$folder" && "$@") >"$folder.out" 2>&1 &
}
join_asides() {
    local folder
    wait
    for folder in "${asides[@]}"; do
        cat "$folder.out"
        rm -rf "$folder" "$folder.out"
    done
    asides=()
}

# build FLAGS NAME: the program tests/rewrite/NAME.c or .cc as ./NAME.
build() {
    local flags=$1 name=$2
    rm -f "$name"
    # shellcheck disable=SC2086
    if [ -e "$programs/$name.cc" ]; then
        build_once "$name $flags" "$name" g++ -g $flags -pthread -o "$name" "$programs/$name.cc"
    else
        build_once "$name $flags" "$name" gcc -g $flags -I"$TOP" -fopenmp -o "$name" "$programs/$name.c"
    fi
}

# same_behaviour TITLE PROGRAM ARGUMENT...: plain, with counters, with memory records too, and with outcomes of branches
# besides, with calls that move and calls that stay. (What is left to `make check-real` are parts of the others: outcomes
# come with records, and same_counts has counters with calls that stay.)
same_behaviour() {
    local title=$1 program=$2 mode modes calls expected actual
    modes=("counters moved" "records kept" "outcomes moved")
    [ -z "${PMODEL_LONG_TESTS-}" ] || modes+=("records moved" "counters kept")
    shift 2
    expected=0
    timeout 60 "$program" "$@" >plain.out 2>plain.err </dev/null || expected=$?
    for mode in "${modes[@]}"; do
        local options=()
        calls=${mode#* }
        case $mode in
        records*) options=(-m) ;;
        outcomes*) options=(-m -o) ;;
        esac
        mode="${mode% *}, calls $calls"
        if ! PMODEL_CALLS=$calls "$tool" "${options[@]}" -r "$runtime" "$program" ./instrumented 2>tool.err; then
            fail "$title with $mode" "$(cat tool.err)"
            continue
        fi
        actual=0
        rm -rf raw
        mkdir raw
        PMODEL_BEHAVIOUR=1 PMODEL_OUT=$TMP/raw PMODEL_BLOCK=64 timeout 120 ./instrumented "$@" \
            >instrumented.out 2>instrumented.err </dev/null || actual=$?
        if [ "$actual" -ne "$expected" ]; then
            fail "$title with $mode" "status $actual, plain $expected: $(tail -n 1 instrumented.err)"
        elif ! cmp -s plain.out instrumented.out; then
            fail "$title with $mode" "prints something else"
        elif ! ls raw/*.raw >/dev/null 2>&1; then
            fail "$title with $mode" "no raw file was written"
        else
            pass "$title with $mode"
        fi
    done
}

# callgrind_counts PROGRAM FILE: "address count" of each instruction of PROGRAM that was executed.
callgrind_counts() {
    awk -v program="$1" '
        function number_of(text, value, i) {
            value = 0
            text = substr(text, 3)
            for (i = 1; i <= length(text); i++)
                value = 16 * value + index("0123456789abcdef", substr(text, i, 1)) - 1
            return value
        }
        /^c?ob=/ {
            match($0, /\([0-9]+\)/)
            number = substr($0, RSTART, RLENGTH)
            rest = substr($0, RSTART + RLENGTH + 1)
            if (rest != "") names[number] = rest
            if ($0 ~ /^ob=/) ours = names[number] == program
            next
        }
        /^calls=/ { is_call = 1; next }
        /^(0x[0-9a-f]+|\+[0-9]+|-[0-9]+|\*)( [0-9]+)?$/ {
            if ($1 ~ /^0x/) at = number_of($1)
            else if ($1 != "*") at += $1
            if (!is_call && ours) counts[at] += $2
            is_call = 0
        }
        END { for (at in counts) printf "%x %.0f\n", at, counts[at] }' "$2"
}

# same_counts TITLE PROGRAM ARGUMENT...: block counts against callgrind.  OPTIONS: of the tool.
same_counts() {
    local title=$1 program=$2 calls
    shift 2
    rm -f callgrind.out.*
    valgrind --tool=callgrind --dump-instr=yes --dump-line=no --compress-pos=no --skip-plt=no \
        --callgrind-out-file=callgrind.out.%p "$program" "$@" >/dev/null 2>&1
    cat callgrind.out.* >callgrind.out
    callgrind_counts "$program" callgrind.out >executed.txt
    for calls in moved kept; do
        same_counts_with "$calls" "$title" "$program" "$@"
    done
}

# same_counts_with CALLS TITLE PROGRAM ARGUMENT...: against executed.txt.
same_counts_with() {
    local calls=$1 title=$2 program=$3
    shift 3
    title="$title, calls $calls: every block is counted as callgrind counts it, and every branch as its edges"
    rm -rf raw
    mkdir raw
    # shellcheck disable=SC2086
    PMODEL_CALLS=$calls "$tool" -o ${OPTIONS-} -r "$runtime" "$program" ./instrumented &&
        { PMODEL_BEHAVIOUR=1 PMODEL_OUT=$TMP/raw ./instrumented "$@" >/dev/null 2>&1 || true; } &&
        "$tool" -b "$program" raw/*.raw >blocks.txt 2>blocks.err
    awk 'NR == FNR { counts[$1] = $2; next }
         { n++; if (counts[$1] + 0 != $2) { bad++; print $1 ": " $2 ", callgrind " counts[$1] + 0 } }
         END { print n + 0 " blocks, " bad + 0 " differ"; exit bad || !n }' \
        executed.txt blocks.txt >compared.txt &&
        awk '$2 > 0' blocks.txt | grep >/dev/null . &&
        ! grep -q -e inexact -e '^branch at' blocks.err && grep -q '^branches: [1-9]' blocks.err
    local status=$?
    if [ $status -eq 0 ]; then
        pass "$title"
    else
        fail "$title" "$(tail -n 3 compared.txt blocks.err)"
    fi
}

behaves() {
    check "$2 builds with $1" build "$1" "$2" && same_behaviour "$2 ($1)" "$TMP/$2"
}
# hard_programs FLAGS: signals, threads, processes, jumps that nobody foresaw; beside each other until join_asides.
hard_programs() {
    local name
    for name in hard_signals hard_threads hard_processes jumps interpreter many_labels foreign_threads; do
        aside behaves "$1" "$name"
    done
}

# ways_out FLAGS: routines that are left in each of the ways that leaves.c and leaves_cxx.cc know, with callgrind's counts.
ways_out() {
    local name way
    for name in leaves leaves_cxx; do
        build "$1" "$name"
        for way in $(./"$name"); do
            # Where frames hang on a register that the kernel does not tell, there is a note instead.
            [ "$way $1" = "other_threads -O0 -no-pie" ] && continue
            aside same_counts "$name $way ($1)" "$TMP/$name" "$way"
        done
        join_asides # before there is another program of this name
    done
}
