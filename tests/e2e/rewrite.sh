# The rewriter alone, on small programs and a few of the system's: instrumented programs print what
# plain ones print and end with the same status, basic blocks are counted as callgrind counts them,
# and records hold the addresses that were accessed.
# time limit: 600 s
. "$TOP/tests/lib.sh"

programs=$TOP/tests/rewrite
runtime=$BUILD/lib/pmodel/libpmodel-rt.so
tool=$TMP/instrument_tool

read -ra libraries <"$BUILD/ldlibs"
check "the driver is built" gcc -std=gnu11 -O1 -g -fopenmp -I"$TOP" -o "$tool" \
    "$programs/instrument_tool.c" -Wl,--start-group "$BUILD"/libpm_binlift.a \
    "$BUILD"/libpm_core.a -Wl,--end-group "${libraries[@]}" || exit 1

# build FLAGS NAME: the program tests/rewrite/NAME.c or .cc as ./NAME.
build() {
    local flags=$1 name=$2
    rm -f "$name"
    # shellcheck disable=SC2086
    if [ -e "$programs/$name.cc" ]; then
        g++ -g $flags -pthread -o "$name" "$programs/$name.cc"
    else
        gcc -g $flags -fopenmp -o "$name" "$programs/$name.c"
    fi
}

# same_behaviour TITLE PROGRAM ARGUMENT...: plain, with counters, and with memory records too.
same_behaviour() {
    local title=$1 program=$2 mode expected actual
    shift 2
    expected=0
    timeout 60 "$program" "$@" >plain.out 2>plain.err </dev/null || expected=$?
    for mode in counters records; do
        local options=()
        [ "$mode" = counters ] || options=(-m)
        if ! "$tool" "${options[@]}" -r "$runtime" "$program" ./instrumented 2>tool.err; then
            fail "$title with $mode" "$(cat tool.err)"
            continue
        fi
        actual=0
        rm -rf raw
        mkdir raw
        PMODEL_OUT=$TMP/raw PMODEL_BLOCK=64 timeout 120 ./instrumented "$@" \
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
    local title=$1 program=$2
    shift 2
    rm -rf raw
    mkdir raw
    # shellcheck disable=SC2086
    "$tool" ${OPTIONS-} -r "$runtime" "$program" ./instrumented &&
        { PMODEL_OUT=$TMP/raw ./instrumented "$@" >/dev/null 2>&1 || true; } &&
        "$tool" -b "$program" raw/*.raw >blocks.txt 2>blocks.err
    valgrind --tool=callgrind --dump-instr=yes --dump-line=no --compress-pos=no --skip-plt=no \
        --callgrind-out-file=callgrind.out "$program" "$@" >/dev/null 2>&1
    callgrind_counts "$program" callgrind.out >executed.txt
    awk 'NR == FNR { counts[$1] = $2; next }
         { n++; if (counts[$1] + 0 != $2) { bad++; print $1 ": " $2 ", callgrind " counts[$1] + 0 } }
         END { print n + 0 " blocks, " bad + 0 " differ"; exit bad || !n }' \
        executed.txt blocks.txt >compared.txt &&
        awk '$2 > 0' blocks.txt | grep -q . &&
        ! grep -q inexact blocks.err
    local status=$?
    if [ $status -eq 0 ]; then
        pass "$title: every block is counted as callgrind counts it"
    else
        fail "$title: every block is counted as callgrind counts it" "$(tail -n 3 compared.txt blocks.err)"
    fi
}

for flags in "-O2" "-O0 -no-pie" "-O3 -march=x86-64-v3 -fno-plt" "-O3 -march=native -fcf-protection"; do
    for name in switches calls trips signals exceptions processes; do
        check "$name builds with $flags" build "$flags" "$name" &&
            same_behaviour "$name ($flags)" "$TMP/$name"
    done
done

for flags in "-O2" "-O0 -no-pie" "-O3 -march=x86-64-v3"; do
    for name in switches calls trips; do
        build "$flags" "$name" && same_counts "$name ($flags)" "$TMP/$name"
    done
done
# Routines that are left by longjmp, exceptions, exit, or the end of a thread.
for flags in "-O2" "-O0 -no-pie" "-O3 -march=x86-64-v3"; do
    for name in leaves leaves_cxx; do
        build "$flags" "$name"
        for way in $(./"$name"); do
            same_counts "$name $way ($flags)" "$TMP/$name" "$way"
        done
    done
done

# ---- back edges that are counted outside their loops ----
build "-O2" trips
OPTIONS=-m same_counts "trips with records" "$TMP/trips"
check "they are" sh -c \
    "pmodel loops --dump counters ./trips | grep -c 'where the loop is left' >left && test \$(cat left) -ge 10"

for app in heat cg; do
    gcc -O3 -g -march=x86-64-v3 -o "$app" "$TOP/bench/apps/$app/$app.c" -lm &&
        same_counts "$app" "$TMP/$app" 12 3
done
gfortran -O3 -g -march=x86-64-v3 -o adi "$TOP/bench/apps/adi/adi.f90" &&
    same_counts "adi" "$TMP/adi" 12 3

build "-O2" read_code && same_behaviour "code that is read as data" "$TMP/read_code"
build "-O2" read_code && same_counts "code that is read as data" "$TMP/read_code"

# ---- addresses ----
build "-O2 -no-pie" accesses
gcc -shared -fPIC -I"$TOP" -o handler.so "$programs/access_handler.c"
"$tool" -m -r "$runtime" accesses accesses.i
arena=$(nm accesses | awk '/ arena$/ { print $1 }')
PMODEL_HANDLER=$TMP/handler.so PM_TEST_OUT=$TMP/recorded PM_TEST_LOW=$arena \
    PM_TEST_HIGH=$(printf %x $((0x$arena + 65536))) ./accesses.i >announced 2>instrumented.err
./accesses >plain.out 2>plain.err
check "strings, masks and gathers: the program itself is unharmed" cmp plain.out announced
check "registers and flags survive where all are live" cmp plain.err instrumented.err
sort announced >announced.sorted
sort recorded >recorded.sorted
check "strings, masks and gathers: each byte that is accessed is recorded" \
    cmp announced.sorted recorded.sorted
check "and there are such bytes" test -s recorded

# ---- the system's programs, without symbols ----
head -c 400000 "$(command -v bash)" >data
for program in gzip sed sort; do
    path=$(readlink -f "$(command -v $program)")
    case $program in
    gzip) same_behaviour "the system's gzip" "$path" -9 -c data ;;
    sed) same_behaviour "the system's sed" "$path" 's/\([a-z]*\) \([a-z]*\)/\2 \1/g' "$TOP/LICENSE" ;;
    sort) same_behaviour "the system's sort" "$path" "$TOP/LICENSE" ;;
    esac
done

# ---- a shared library ----
cat >library.c <<'EOF_LIBRARY'
long library_sum(const long *values, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += values[i];
    return sum;
}
EOF_LIBRARY
cat >user.c <<'EOF_USER'
#include <stdio.h>
long library_sum(const long *values, long n);
int main(void) {
    long values[100];
    for (int i = 0; i < 100; i++)
        values[i] = i * i;
    printf("%ld\n", library_sum(values, 100));
    return 0;
}
EOF_USER
mkdir -p plain new
gcc -O2 -g -shared -fPIC -o plain/liblibrary.so library.c
gcc -O2 -g -o user user.c -Lplain -llibrary
check "a shared library is instrumented" "$tool" -m -r "$runtime" plain/liblibrary.so \
    new/liblibrary.so
LD_LIBRARY_PATH=plain ./user >plain.out
rm -rf raw && mkdir raw
# The program itself is plain, so the runtime must be told to stand before the C library.
PMODEL_OUT=$TMP/raw LD_PRELOAD=$runtime LD_LIBRARY_PATH=new ./user >instrumented.out
check "a program with an instrumented library prints the same" cmp plain.out instrumented.out
"$tool" -b plain/liblibrary.so raw/*.raw >blocks.txt 2>blocks.err
check "the library's loop is counted" grep -qE ' (99|100)$' blocks.txt
rm -rf raw && mkdir raw
PMODEL_OUT=$TMP/raw LD_LIBRARY_PATH=new ./user >instrumented.out
check "where the runtime comes after the C library, the program runs all the same" \
    cmp plain.out instrumented.out
"$tool" -b plain/liblibrary.so raw/*.raw >blocks.txt 2>blocks.err
check "and the loop is counted" grep -qE ' (99|100)$' blocks.txt

# ---- the file ----
readelf -aW ./accesses.i >/dev/null 2>readelf.err
check "readelf finds nothing wrong" test ! -s readelf.err
objdump -d ./accesses.i >objdump.out 2>objdump.err
check "objdump finds nothing wrong" test ! -s objdump.err
check "the new code stands in a section of its own" grep -q 'section .edited_text' objdump.out
check "no instruction of the new code is bad" sh -c \
    "objdump -d -j .edited_text accesses.i | grep -q '(bad)' && exit 1 || exit 0"
chmod 750 accesses
"$tool" -r "$runtime" accesses accesses.i
check "mode bits are kept" test "$(stat -c %a accesses.i)" = 750

gcc -O2 -static -o static user.c library.c
expect_error "a static program is refused" 2 'statically linked' \
    "$tool" -r "$runtime" static static.i
check "and nothing is written" test ! -e static.i
echo 'int main(void) { long x; __asm__ volatile("mov %%gs:0, %0" : "=r"(x)); return x != 0; }' >gs.c
gcc -O2 -o gs gs.c
expect_error "a program that uses %gs is refused" 2 'in routine main .* uses %gs' \
    "$tool" -r "$runtime" gs gs.i
expect_error "a runtime without a folder is refused" 2 'must be absolute' \
    "$tool" -r libpmodel-rt.so accesses other.i
expect_error "a folder that does not exist is an error" 2 'cannot write' \
    "$tool" -r "$runtime" accesses no/such/folder
