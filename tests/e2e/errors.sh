# Bad input gets one sentence that names the file and what to do, status 2, and loses nothing.
. "$TOP/tests/lib.sh"

cc() { gcc -O2 -g $(pmodel flags) -o "$1" "$2" -lm; }
cat >one.c <<'C'
#include <stdio.h>
#include <stdlib.h>
static double a[4096];
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (n < 4) { fprintf(stderr, "one: the size must be at least 4\n"); return 3; }
    for (int k = 0; k < 3; k++)
        for (int i = 1; i < n; i++) a[i] = a[i - 1] * 0.5 + i;
    printf("%g\n", a[n - 1]);
    return 0;
}
C
sed 's/0.5/0.25/; s/k < 3/k < 4/' one.c >two.c
check "the program builds with the plugin" cc one one.c
check "another program builds" cc two two.c
gcc -O2 -o plain one.c
gcc -O2 -Wl,--no-as-needed -o lm one.c -lm
gcc -O2 -static -o static one.c
gcc -O2 -static-pie -o static_pie one.c

# unchanged NAME FILE COMMAND…: the command fails, FILE stays as it is.
unchanged() {
    local name=$1 file=$2 before after
    shift 2
    before=$(sha256sum "$file")
    "$@" >/dev/null 2>&1
    after=$(sha256sum "$file")
    if [ "$before" = "$after" ]; then pass "$name"; else fail "$name" "$file changed"; fi
}

check "a good run for the store" pmodel run -q -o good.pmdb -m r12000 -P N=16,32,64 -- ./one '{N}'
check "models of it" pmodel fit good.pmdb

expect_error "not an ELF file" 2 'one\.c' pmodel loops one.c
expect_error "a missing program" 2 'nothing' pmodel loops ./nothing
head -c 3000 one >short
chmod +x short
expect_error "a truncated program" 2 'short' pmodel loops short
expect_error "a static program is refused for running" 2 'static' \
    pmodel run -o s.pmdb -P N=16 -- ./static '{N}'
expect_error "a static program that can be moved is refused too" 2 'statically linked' \
    pmodel run -o s.pmdb -P N=16 -- ./static_pie '{N}'
expect_error "the dynamic linker is refused" 2 'dynamic linker' \
    pmodel run -o s.pmdb -- /lib64/ld-linux-x86-64.so.2 --version
check "a program without metadata runs" pmodel run -q -o plain.pmdb -P N=16 -- ./plain '{N}'
printf 'GCC: (GNU) 12.2.0\0some clang version 14.0.6\0' >comment
objcopy --update-section .comment=comment plain by_clang
check "a program of another compiler is not told to use the plugin there" bash -c "
    pmodel loops ./by_clang | grep -qF 'compiled by some clang version 14.0.6, and only GCC 12'"
if pmodel loops ./plain 2>&1 | grep -i >/dev/null 'metadata\|\.pmodel'; then
    pass "a program without metadata is said to have none"
else
    fail "a program without metadata is said to have none" "$(pmodel loops ./plain 2>&1 | head -5)"
fi

printf 'just text\n' >text.pmdb
expect_error "a store that is none" 2 'text\.pmdb' pmodel report text.pmdb -m r12000
expect_error "a missing store" 2 'none\.pmdb' pmodel fit none.pmdb
head -c 5000 good.pmdb >cut.pmdb
expect_error "a truncated store" 2 'cut\.pmdb' pmodel report cut.pmdb -m r12000 -P N=64
unchanged "a truncated store stays as it is" cut.pmdb pmodel fit cut.pmdb
unchanged "a file that is no store stays as it is" text.pmdb \
    pmodel run -q -o text.pmdb -P N=16 -- ./one '{N}'
expect_error "a store of another program" 2 'holds runs of one, and two is another program' \
    pmodel run -q -o good.pmdb -P N=128 -- ./two '{N}'
unchanged "a store of another program stays as it is" good.pmdb \
    pmodel run -q -o good.pmdb -P N=128 -- ./two '{N}'

expect_error "an unknown machine names the known ones" 2 'r12000' pmodel report good.pmdb -m cray
expect_error "an unknown parameter names the known ones" 2 '"?M"?.*N' \
    pmodel report good.pmdb -m r12000 -P M=3
expect_error "a size that was not fitted asks for fit" 2 'pmodel fit' \
    sh -c 'pmodel run -q -o nofit.pmdb -m r12000 -P N=16 -- ./one "{N}" && pmodel report nofit.pmdb -m r12000 -P N=99'
expect_error "too few sizes for a model" 2 'sizes' pmodel fit nofit.pmdb
sed 's/clock_mhz *=/clock_hurts =/' "$BUILD/share/pmodel/machines/r12000.conf" >bad.conf
expect_error "a mistake in a machine file names file and line" 2 'bad\.conf:[0-9]+' \
    pmodel report good.pmdb -m ./bad.conf -P N=64
expect_error "a block size that is no power of two" 2 'powers of two' \
    pmodel run -o b.pmdb --block 48 -P N=16 -- ./one '{N}'
check "one block size only" pmodel run -q -o b8.pmdb --block 8 -P N=16 -- ./one '{N}'
expect_error "a machine whose block size was not measured" 2 'pmodel run -o b8.pmdb -m r12000 -P N=16 -- ' \
    pmodel report b8.pmdb -m r12000 -P N=16
expect_error "a policy of a cache that is none" 2 'lru, plru, fifo, random; physical' \
    pmodel query good.pmdb -P N=16 --cache 32K/8/lifo
expect_error "a tree of ways that is none" 2 'plru is a binary tree: a cache of 12 ways' \
    pmodel query good.pmdb -P N=16 --cache 48K/12/plru
expect_error "a policy where the answer is of LRU" 2 'behind a / in --cache is for queries for misses' \
    pmodel query good.pmdb --cache 32K/random --hit-ratio 0.9
# meant NAME WORD COMMAND…: the complaint asks whether WORD was meant.
meant() { expect_error "$1" 2 "did you mean $2\?" "${@:3}"; }
meant "a command that is nearly one" report pmodel reprot
meant "an option that is nearly one" --no-memory pmodel run --no-memoy
meant "an option of reports that is nearly one" --format pmodel report --fromat=csv good.pmdb
meant "a machine that is nearly one" r12000 pmodel report good.pmdb -m r1200
meant "a machine to be shown that is nearly one" r12000 pmodel machines r1200
meant "a parameter in the other case" N pmodel report good.pmdb -P n=3
meant "a parameter of models in the other case" N pmodel report --as formulas good.pmdb -P n=3
meant "a name in braces in the other case" N pmodel run -o x.pmdb -P N=16 -- ./one '{n}'
meant "a parameter of a formula in the other case" N pmodel fit --basis '1, n' good.pmdb
meant "a parameter of a plan in the other case" N pmodel plan -P N=16:64:8 --to n=99 -- ./one '{N}'
meant "a routine of a query that is nearly one" main pmodel query good.pmdb -P N=16 --cache 32K --scope mian
meant "a loop of a query that is nearly one" main/2 pmodel query good.pmdb -P N=16 --cache 32K --scope mian/2
meant "a routine of models that is nearly one" main pmodel report --as formulas --routine mian good.pmdb
meant "a routine of a basis that is nearly one" main pmodel fit --basis 'mian=1, N' good.pmdb
meant "a routine to be listed that is nearly one" main pmodel loops --routine mian ./one
meant "a routine to be dumped that is nearly one" main pmodel loops --dump cfg --routine mian ./one
meant "a routine to be drawn that is nearly one" main pmodel loops --svg mian ./one
meant "a routine of histograms that is nearly one" main \
    pmodel show --as histograms good.pmdb --routine mian
meant "a routine to start at that is nearly one" main \
    pmodel run -o x.pmdb --start-at mian -P N=16 -- ./one '{N}'
echo mian >mian
meant "a routine of a list that is nearly one" main \
    pmodel run -o x.pmdb --exclude mian -P N=16 -- ./one '{N}'
meant "a library that is nearly one" libm.so.6 pmodel run -o x.pmdb --lib libn.so.6 -P N=16 -- ./lm '{N}'
meant "an instruction class that is nearly one" fp_add pmodel report --as formulas --classes fp_ad good.pmdb
expect_error "an option whose value is missing" 2 'option "--scope" needs a value' pmodel query --scope
expect_error "an option that takes no value" 2 'option "--again" takes no value' pmodel run --again=3
expect_error "an unknown command" 2 'no command' pmodel frobnicate
expect_error "an unknown option" 2 'option' pmodel run --frobnicate

expect_error "a size that the program rejects: status, and its last words" 2 \
    'status 3.*at least 4' pmodel run -q -o part.pmdb -P N=16,2,32 -- ./one '{N}'
if [ "$(sqlite3 part.pmdb 'select group_concat(parameters) from run')" = "N=16,N=32" ]; then
    pass "the runs beside a failed one are kept"
else
    fail "the runs beside a failed one are kept" "$(sqlite3 part.pmdb 'select parameters from run')"
fi
expect_error "a program over its time is ended" 2 'timeout' \
    pmodel run -q -o t.pmdb --timeout 1 --exe ./one -- sh -c 'sleep 20; exec ./one 16'
expect_error "a script needs --exe" 2 '\-\-exe' \
    sh -c 'printf "#!/bin/sh\n./one 16\n" >script; chmod +x script; pmodel run -o x.pmdb -- ./script'
expect_error "a command that does not run the program" 2 'raw|measure|--exe' \
    pmodel run -q -o x.pmdb --exe ./one -- true
