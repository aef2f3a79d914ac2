# The rewriter alone, on small programs and a few of the system's: instrumented programs print what
# plain ones print and end with the same status, basic blocks are counted as callgrind counts them,
# and records hold the addresses that were accessed.
# time limit: 600 s
. "$TOP/tests/lib.sh"

. "$TOP/tests/rewrite/rewrite.bash"

for flags in "-O2" "-O0 -no-pie" "-O3 -march=native -fcf-protection -fno-plt"; do
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
