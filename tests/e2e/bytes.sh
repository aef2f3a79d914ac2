# `pmodel run --bytes`: the bytes that each group was the first to touch, and the unused share of its
# blocks, for a program that uses one double of each block of one array and all of another: marked and
# plain, in two threads, one after the other and together, in the child of a fork; the same with every
# other option; of a real application beside a plain event handler; and what is known of runs without it.
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"

cat >shares.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* CASE 0: each thread has parts of its own; 1: the second one begins when the first has ended, with
   the same parts; 2: one thread and the child of a fork; 3: both use the same parts, in turn. */
enum { BLOCK = 8 /* doubles */, N_BLOCKS = 1024, FILLED = 100001 };
double sparse[2][N_BLOCKS * BLOCK] __attribute__((aligned(4096)));
double dense[2][N_BLOCKS * BLOCK] __attribute__((aligned(4096)));
static char filled[2][FILLED + 4095] __attribute__((aligned(4096)));
static volatile double result[2];
static long filled_bytes = FILLED;
static pthread_barrier_t both;

__attribute__((noipa)) static double use_sparse(long part) {
    double sum = 0;
    for (long i = 0; i < N_BLOCKS; i++)
        sum += sparse[part][i * BLOCK];
    return sum;
}
__attribute__((noipa)) static double use_dense(long part) {
    double sum = 0;
    for (long i = 0; i < N_BLOCKS * BLOCK; i++)
        sum += dense[part][i];
    return sum;
}
__attribute__((noipa)) static double use_again(long part) {
    double sum = 0;
    for (long i = 0; i < N_BLOCKS * BLOCK; i++)
        sum += dense[part][i];
    return sum;
}
__attribute__((noipa)) static void fill(char *at) {
    memset(at, 1, filled_bytes);
}
__attribute__((noipa)) static void use_all(long part) {
    double sum = use_sparse(part) + use_dense(part) + use_again(part);
    fill(filled[part]);
    result[part] = sum;
}
static void *work(void *number) {
    pthread_barrier_wait(&both);
    use_all((long)number);
    pthread_barrier_wait(&both);
    return NULL;
}
static void *work_alone(void *number) {
    use_all((long)number);
    return NULL;
}
static int together(long other) {
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    if (pthread_create(&thread, NULL, work, (void *)other))
        return 1;
    work((void *)0);
    return pthread_join(thread, NULL);
}
static int one_after_the_other(void) {
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work_alone, NULL) || pthread_join(thread, NULL))
            return 1;
    }
    return 0;
}
static int in_two_processes(void) {
    use_all(0);
    pid_t child = fork();
    if (child == 0) {
        use_all(0);
        exit(0);
    }
    int status = 1;
    return child < 0 || waitpid(child, &status, 0) != child || status;
}
int main(int argc, char **argv) {
    switch (argc > 1 ? atoi(argv[1]) : 0) {
    case 0:
        return together(1);
    case 1:
        return one_after_the_other();
    case 2:
        return in_two_processes();
    default:
        return together(0);
    }
}
END

is() {
    [ "$2" = "$3" ] && pass "$1" || fail "$1" "\"$2\" is not \"$3\""
}

# shares STORE ROUTINE ARGUMENT...: block size, bytes first touched and unused share of the group that
# loads the array, one histogram after the other.
shares() {
    local store=$1 routine=$2
    shift 2
    pmodel show --as histograms "$store" --routine "$routine" "$@" |
        jq -r '.runs[].histograms[] | select(.group.bytes_max == 8 and
            (.group.pushed or .group.stack | not)) |
            "\(.block_bytes) \(.bytes_touched_first) \(.unused_share)"' | tr '\n' ' '
}

# filled STORE ARGUMENT...: the bytes that memset was the first to touch.
filled() {
    local store=$1
    shift
    pmodel show --as histograms "$store" --routine fill "$@" |
        jq '[.runs[].histograms[] | select(.bytes_touched_first > 1000) | .bytes_touched_first] | add'
}

half=$((1024 * 8)) whole=$((1024 * 64))
options=(-O2 -g -fno-tree-vectorize -fno-unroll-loops -pthread)
read -ra marks < <(pmodel flags)
for kind in plain marked; do
    extra=()
    [ $kind = plain ] || extra=("${marks[@]}")
    store=shares-$kind.pmdb
    check "$kind: the program compiles" gcc "${options[@]}" "${extra[@]}" -o shares-$kind shares.c &&
        check "$kind: the program runs" pmodel run -q -o $store --block 64,4096 --bytes \
            -P CASE=0,1,2,3 -- ./shares-$kind '{CASE}' || continue
    is "$kind: of each block of one array an eighth is used, by each thread" \
        "$(shares $store use_sparse -P CASE=0 --threads)" \
        "64 $half 0.875 64 $half 0.875 4096 $half 0.875 4096 $half 0.875 "
    is "$kind: of the other array all is" "$(shares $store use_dense -P CASE=0 --threads)" \
        "64 $whole 0 64 $whole 0 4096 $whole 0 4096 $whole 0 "
    is "$kind: who uses what others have touched is the first to touch nothing, and that is known" \
        "$(shares $store use_again -P CASE=0 --threads)" \
        "64 0 null 64 0 null 4096 0 null 4096 0 null "
    is "$kind: a memset has the bytes that it fills" "$(filled $store -P CASE=0 --block 64)" 200002
    is "$kind: threads are added up" "$(shares $store use_sparse -P CASE=0 --block 64)" \
        "64 $((2 * half)) 0.875 "
    is "$kind: a thread that takes over a number begins with no byte" \
        "$(shares $store use_sparse -P CASE=1 --block 64 --threads)" "64 $((2 * half)) 0.875 "
    is "$kind: the child of a fork begins with no byte" \
        "$(shares $store use_dense -P CASE=2 --block 64 --threads)" "64 $whole 0 64 $whole 0 "
done

# ---- with other options

# measured NAME CASE OPTION...: NAME.pmdb
measured() {
    local name=$1 case=$2
    shift 2
    pmodel run -q -o "$name.pmdb" --block 64 "$@" -P "CASE=$case" -- ./shares-plain '{CASE}'
}
for option in --carry --second-core "--sample 1/4" "--max-blocks 100" "--bin-width 0"; do
    name=./${option%% *} # a name with dashes is an option, a path is not
    # shellcheck disable=SC2086 # an option and its value
    check "bytes are counted with $option" measured "$name" 0 --bytes $option
    is "$option: bytes of each thread are of all blocks" "$(for routine in use_sparse use_dense use_again; do
        shares "$name.pmdb" $routine --threads
    done | grep -o '64 [0-9]*' | tr '\n' ' ')" "64 $half 64 $half 64 $whole 64 $whole 64 0 64 0 "
done
check "bytes of the shared stream" measured shared 3 --bytes --shared
is "bytes that threads have in common are touched first once in the shared stream" \
    "$(shares shared.pmdb use_sparse --shared)" "64 $half 0.875 "
is "and by each thread in its own" "$(shares shared.pmdb use_sparse --threads)" \
    "64 $half 0.875 64 $half 0.875 "
is "so it is with a memset" "$(filled shared.pmdb --shared) $(filled shared.pmdb)" "100001 200002"

# Both runs have environments of the same length, on which places on the stack depend.
fixed='setarch -R'
$fixed true 2>/dev/null || fixed=''
for name in without with; do
    [ $name = with ] && option=--bytes || option='--env PMODEL_bytes=1'
    # shellcheck disable=SC2086 # several words, or none
    check "a run $name bytes" $fixed "$PMODEL" run -q -o $name.pmdb --block 64 $option -P CASE=2 \
        -- ./shares-plain '{CASE}'
    pmodel show --as histograms $name.pmdb |
        jq 'del(.runs[].histograms[] | .bytes_touched_first, .unused_share)' >$name.json
done
[ -z "$fixed" ] || check "--bytes changes no histogram" cmp without.json with.json

# ---- of a real application, group by group, beside an event handler that has a list of all bytes

cat >first.c <<'END'
/* An event handler: the bytes that each group was the first to touch, byte by byte. */
#include "pmodel_handler.h"
#include <stdio.h>
#include <stdlib.h>
static uint64_t *keys, room = 1 << 24, n;
static uint64_t bytes[1 << 20];
static int begin(const struct pmodel_program *program) {
    keys = calloc(room, sizeof *keys);
    return !keys || program->n_groups > 1 << 20;
}
static void accesses(uint32_t thread, const struct pmodel_access *batch, size_t count) {
    (void)thread;
    for (size_t i = 0; i < count; i++)
        for (uint64_t b = 0; b < batch[i].size_bytes; b++) {
            uint64_t key = batch[i].address + b + 1, at = (key * 0x9e3779b97f4a7c15 >> 20) % room;
            while (keys[at] && keys[at] != key)
                at = (at + 1) % room;
            if (keys[at] == key)
                continue;
            keys[at] = key;
            bytes[batch[i].group]++;
            if (2 * ++n > room)
                abort();
        }
}
static void end(void) {
    FILE *out = fopen(getenv("FIRST_OUT"), "w");
    for (uint32_t g = 0; g < 1 << 20; g++)
        if (bytes[g])
            fprintf(out, "%u %llu\n", g, (unsigned long long)bytes[g]);
    fclose(out);
}
const struct pmodel_handler pmodel_handler = {
    .version = PMODEL_HANDLER_VERSION, .begin = begin, .accesses = accesses, .end = end};
END
truth_app adi || fail "adi builds"
check "the handler compiles" gcc -shared -fPIC -O2 -I"$BUILD/include" -o first.so first.c
check "adi runs with the handler" $fixed "$PMODEL" run --handler ./first.so \
    --env FIRST_OUT="$PWD/handler.txt" -- ./adi 12 1
check "adi runs with --bytes" $fixed "$PMODEL" run -q -o adi.pmdb --block 64 --bytes -P N=12 -- ./adi '{N}' 1
pmodel show --as histograms adi.pmdb | jq -r '.runs[].histograms[] |
    select(.bytes_touched_first > 0) | "\(.group.group) \(.bytes_touched_first)"' | sort -n >adi.txt
check "adi has several groups that are the first to touch bytes" [ "$(wc -l <adi.txt)" -gt 30 ]
[ -z "$fixed" ] || check "the groups of adi have the bytes that the handler sees them touch first" \
    diff handler.txt adi.txt

# ---- what is not known is not 0

is "a run without --bytes does not know them" "$(shares without.pmdb use_sparse)" "64 null null "
# The end of a line: bytes and share.
cold() {
    pmodel show --as histograms "$1" --routine use_again --format csv | tr -d '\r' |
        grep -o ',cold,.*' | sort -u
}
is "nor does its CSV" "$(cold without.pmdb)" ",cold,,,,0,0,,"
is "CSV has 0 where no byte was touched first" "$(cold with.pmdb)" ",cold,,,,0,0,0,"
pmodel run -o without.pmdb --block 64 -P CASE=0 -- ./shares-plain '{CASE}' 2>again.txt
for words in "1 measured" "1 were there already"; do
    pmodel run -o without.pmdb --block 64 --bytes -P CASE=0 -- ./shares-plain '{CASE}' 2>again.txt
    check "a size that has no bytes is run again, and then not: $words" grep -q "$words" again.txt
done
pmodel run -o without.pmdb --block 64 -P CASE=0 -- ./shares-plain '{CASE}' 2>again.txt
check "a run without --bytes does not take them away" grep -q "1 were there already" again.txt
is "they are still there" "$(shares without.pmdb use_dense -P CASE=0)" "64 $((2 * whole)) 0 "

# Blocks of 32 bytes there; the compiler tells the array's name.
check "a run for a machine" pmodel run -q -o machine.pmdb -m r12000 --bytes -P CASE=0 -- ./shares-marked '{CASE}'
check "the report tells what of the blocks is not used" sh -c 'pmodel report -m r12000 machine.pmdb |
    grep "32-byte blocks .* never used, most of them in sparse (75% of its blocks)"'

expect_error "--bytes without accesses" 2 'exclude each other' \
    pmodel run --bytes --no-memory -o no.pmdb -- ./shares-plain
expect_error "--bytes for an event handler" 2 'handler and --bytes exclude each other' \
    pmodel run --bytes --handler ./shares-plain -- ./shares-plain
