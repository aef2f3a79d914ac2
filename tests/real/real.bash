# A program that nobody here develops, unmodified, through the whole pipeline:
# `. "$TOP/tests/real/real.bash"` after lib.sh. What it reports:
#
#   behaviour   output, standard error and status of the instrumented program are the plain one's,
#               with memory records at the sizes measured, with edge counters at the size predicted
#   covered     basic blocks' executions times their instructions, over the instructions that
#               callgrind counts in the program's own object (and in all objects: libraries are not
#               instrumented), at the largest size measured
#   predicted   of these, the share that runs in operations whose cost the machine file knows, at a
#               larger size; and how far the predicted number of instructions is from the counted
# shellcheck shell=bash
. "$TOP/tests/real/behaviour.bash"

machines=r12000,itanium2

# debian_source PACKAGE: unpacks the source of one of Debian's packages as ./PACKAGE. The machine's
# own apt is left as it is: where its packages come from is read, and the index of sources is kept in
# the scratch directory.
debian_source() {
    local from
    from=$(apt-get indextargets --format 'deb-src $(REPO_URI) $(CODENAME) main' \
        'Origin: Debian' 'Component: main' 'Identifier: Packages')
    [ -n "$from" ] || { echo "apt has no Debian archive to take sources from"; return 1; }
    mkdir -p apt/lists/partial apt/archives/partial
    echo "$from" >apt/sources.list
    printf '%s\n' "Dir::Etc::SourceList \"$PWD/apt/sources.list\";" 'Dir::Etc::SourceParts "-";' \
        "Dir::State::Lists \"$PWD/apt/lists\";" "Dir::Cache \"$PWD/apt\";" \
        'APT::Sandbox::User "root";' >apt/apt.conf
    (
        export APT_CONFIG=$PWD/apt/apt.conf
        apt-get update && apt-get source "$1" && mv "$1"-[0-9]*/ "$1"
    ) >apt/log 2>&1 || { tail -n 5 apt/log; return 1; }
}

# substitute SIZE WORD...: the words, one a line, as `pmodel run` substitutes them.
substitute() {
    local size=$1 word
    shift
    for word in "$@"; do
        word=${word//'{N}'/$size}
        printf '%s\n' "${word//'{PWD}'/$PWD}"
    done
}

# instructions_by_object FILE PATH: what callgrind counted in PATH, and in all objects. The line
# after calls= has the cost of the callee.
instructions_by_object() {
    awk -v own="$2" '
        /^ob=/ { object = substr($0, 4) }
        /^calls=/ { skip = 1; next }
        /^[0-9+*-]/ {
            if (!skip) { all += $NF; if (object == own) mine += $NF }
            skip = 0
        }
        END { printf "%.0f %.0f\n", mine, all }' "$1"
}

# instructions_counted STORE SIZE: instructions, and the largest share of operations without a cost
# on one of the machines.
instructions_counted() {
    pmodel report "$1" -m "$machines" -P "N=$2" --format json | jq -r '
        [.predictions[].scopes[0].total]
        | "\(.[0].instructions) \(map(.unknown_operations / .operations) | max)"'
}

# plain SIZE COMMAND...: runs it as it is; output goes to $name.SIZE.plain, standard error to
# $name.SIZE.errors.
plain() {
    local size=$1 words
    shift
    mapfile -t words < <(substitute "$size" "$@")
    "${words[@]}" >"$name.$size.plain" 2>"$name.$size.errors"
}

# measured STORE SIZES OPTION... -- COMMAND...: `pmodel run`, and whether the program's output is
# the plain one's.
measured() {
    local store=$1 sizes=$2 status=0 size way
    shift 2
    local blocks=(-m "$machines")
    way="at N=$sizes"
    [[ " $* " == *" --no-memory "* ]] && way+=", edge counters only" blocks=()
    pmodel run -q -o "$store" "${blocks[@]}" -P "N=$sizes" "$@" >"$store.out" 2>"$store.errors" || status=$?
    if [ "$status" -ne 0 ]; then
        fail "$name is measured $way" "$(tail -n 5 "$store.errors")"
        return 1
    fi
    pass "$name is measured $way, and ends as the plain program does"
    for size in ${sizes//,/ }; do cat "$name.$size.plain"; done >expected.out
    for size in ${sizes//,/ }; do cat "$name.$size.errors"; done >expected.errors
    check "$name prints what it prints without pmodel, $way" cmp expected.out "$store.out"
    check "$name writes no other errors, $way" cmp expected.errors "$store.errors"
}

# real_program NAME PROGRAM SIZES SIZE COMMAND...
#   NAME is for people; PROGRAM is the file to instrument; SIZES (with commas, ascending) are
#   measured, and SIZE is predicted. In the COMMAND, {N} is the size. If its first word is not the
#   program but a launcher, the launcher starts $RUNNER ahead of the program.
real_program() {
    local name=$1 program sizes=$3 size=$4 launcher='' runner one words counted own all unknown
    program=$(realpath -e "$2") || {
        fail "$name is there" "no file $2"
        return
    }
    shift 4
    [ "$(realpath -e "$(command -v "$1")")" = "$program" ] || launcher=yes
    for one in ${sizes//,/ } "$size"; do
        plain "$one" "$@" || {
            fail "$name runs without pmodel" "status $? at N=$one: $(tail -n 3 "$name.$one.errors")"
            return
        }
    done
    if ! cmp -s "$name.${sizes%%,*}.plain" "$name.$size.plain"; then
        pass "$name gives different results at different sizes"
    else
        fail "$name gives different results at different sizes" "the comparisons would show nothing"
    fi

    local store=$name.pmdb
    measured "$store" "$sizes" --exe "$program" -- "$@" || return
    measured "$name.edges.pmdb" "$size" --no-memory --exe "$program" -- "$@"
    check "models of $name" pmodel fit "$store" || return
    check "report of $name at N=$size" pmodel report "$store" -m "$machines" -P "N=$size" || return

    one=${sizes##*,}
    runner="valgrind --tool=callgrind --compress-strings=no --compress-pos=no"
    runner+=" --skip-plt=no --callgrind-out-file=$name.callgrind"
    mapfile -t words < <(substitute "$one" "$@")
    if [ -n "$launcher" ]; then
        words=(env RUNNER="$runner" "${words[@]}")
    else
        # shellcheck disable=SC2206 # the runner is several words
        words=($runner "${words[@]}")
    fi
    if ! "${words[@]}" >valgrind.out 2>&1; then
        fail "callgrind runs $name" "$(tail -n 3 valgrind.out)"
        return
    fi
    read -r own all < <(instructions_by_object "$name.callgrind" "$program")
    read -r counted unknown < <(instructions_counted "$store" "$one")
    local text="$name at N=$one: $(percent "$counted" "$own") of its own executed instructions"
    text+=" covered ($(percent "$counted" "$all") of all objects')"
    if ! at_least "$counted" "$own" 0.99; then
        fail "$text" "less than 99%: $counted of $own"
    elif ! at_least "$own" "$counted" 0.9999; then
        fail "$text" "more than were executed: $counted of $own"
    else
        pass "$text"
    fi
    local share number
    share=$(awk -v counted="$counted" -v own="$own" 'BEGIN { print counted / own }')
    read -r number unknown < <(instructions_counted "$store" "$size")
    counted=$(./block_counts "$name.edges.pmdb" "N=$size" | awk '
        $1 == "block" { sum += $3 * $4 }
        END { printf "%.0f", sum }')
    share=$(awk -v covered="$share" -v unknown="$unknown" 'BEGIN { printf "%.6f", covered * (1 - unknown) }')
    text="$name at N=$size: $(percent "$share" 1) of its own executed instructions predicted"
    text+="; their number is $(percent "$number" "$counted") of the counted one"
    if at_least "$share" 1 0.99; then
        pass "$text"
    else
        fail "$text" "less than 99%: $(percent "$unknown" 1) of the operations have no cost"
    fi
}

truth_tool block_counts || fail "the tool that reads stores builds" "see above"
