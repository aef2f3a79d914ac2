# The accesses that are recorded are those that valgrind's lackey sees: the same instructions in the
# same order, with the same bytes.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

truth_tool check_lackey touches.c && truth_recorder || {
    fail "the tools build"
    exit
}

# compare PROGRAM TRACE: END is where data at fixed addresses end.
compare() {
    ./check_lackey "$1.pmdb" "$2" "$1.dis" "$1.lackey" \
        "${END:-$(nm "$1" | awk '$3 == "_end" { print $1 }')}"
}

# check_program PROGRAM ARGUMENT...
check_program() {
    local program=$1
    shift
    if ! truth_lackey "$program" "$@" >"$program.out" 2>&1 ||
        ! pmodel run -q --no-libm -o "$program.pmdb" --block 64 -P N=1 \
            --env "PMODEL_HANDLER=$TMP/record_trace.so" --env "TRACE_FILE=$TMP/$program.trace" \
            -- "./$program" "$@" >"$program.out" 2>&1; then
        fail "$program runs" "$(tail -3 "$program.out")"
        return
    fi
    objdump -d --no-show-raw-insn "$program" >"$program.dis"
    show "accesses of $program are those that lackey sees" compare "$program" "$program.trace"
}

# Fixed addresses (-no-pie) let static data be compared address by address.
for app in heat adi cg; do
    if truth_app "$app" -no-pie; then
        check_program "$app" 4 1
    else
        fail "$app builds"
    fi
done

while read -r name options; do
    # shellcheck disable=SC2086 # several options
    if gcc -no-pie -o "touch_$name" $options "$TOP/tests/truth/touch_memory.c"; then
        check_program "touch_$name" 150
    else
        fail "the program that touches memory builds with $options"
    fi
done <<'WAYS'
plain -O1 -march=x86-64-v2
vectors -O3 -march=x86-64-v3
unoptimised -O0 -march=x86-64-v3
WAYS

# Random code, where what is known of the registers decides which addresses a record has.
awk -v seed=1 -v n=100 -f "$TOP/tests/truth/random_blocks.awk" >random_blocks.s
for way in no-pie pie; do
    check "random code builds with -$way" gcc -O1 -fPIE "-$way" -o "random_$way" \
        "$TOP/tests/truth/touch_blocks.c" random_blocks.s
done
END=3810000 check_program random_no-pie 3

# The same in a library, where addresses relative to the program counter are not known before.
gcc -O1 -fPIC -shared -Dmain=run_blocks -Wl,-Bsymbolic -o librandom.so \
    "$TOP/tests/truth/touch_blocks.c" random_blocks.s
cat >library_user.c <<'END_OF_C'
int run_blocks(int, char **);
int main(int n, char **arguments) { return run_blocks(n, arguments); }
END_OF_C
check "random code builds as a library" gcc -O1 -o random_library library_user.c -L. -lrandom \
    "-Wl,-rpath,$TMP"

# places PROGRAM: its trace without what depends on where it was loaded.
places() {
    local pool own_stack
    read -r pool own_stack <"$1.err"
    od -An -v -w24 -t u8 "$1.trace" | awk -v pool="$pool" -v own_stack="$own_stack" '
        function inside(name, begin, n_bytes) {
            if ($1 >= begin && $1 < begin + n_bytes)
                print name, $1 - begin, $2 % 4294967296, int($3 / 4294967296) % 256
        }
        { inside("arena", 58720256, 65536); inside("copy", 30123491328, 65536)
          inside("pool", pool, 4096); inside("stack", own_stack, 8192) }'
}

# record PROGRAM: standard error begins with the places of its own data.
record() {
    pmodel run -q -o "again_$1.pmdb" --block 64 -P N=1 "${@:2}" \
        --env "PMODEL_HANDLER=$TMP/record_trace.so" --env "TRACE_FILE=$TMP/$1.trace" \
        -- "./$1" 3 2>"$1.err" && places "$1" >"$1.places"
}

for way in no-pie pie; do
    check "accesses of random code are recorded: -$way" record "random_$way"
done
check "accesses of random code are recorded: a library" record random_library --lib librandom
check "random code accesses the same places wherever it is loaded" \
    cmp random_no-pie.places random_pie.places
check "random code accesses the same places in a library" \
    cmp random_no-pie.places random_library.places
check "and there are such places" grep -q pool random_pie.places

# The comparison itself: one access too few is seen, at the end and in the middle.
head -c -24 touch_plain.trace >short.trace
{ head -c 24000 touch_plain.trace && tail -c +24025 touch_plain.trace; } >hole.trace
expect_error "a missing last access is seen" 3 'the traces part' compare touch_plain short.trace
expect_error "a missing access is seen" 3 'the traces part' compare touch_plain hole.trace
