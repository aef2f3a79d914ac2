# Threads have private caches, also one that takes over the number of one that is gone; and memory is
# bounded by the threads that live at once.
. "$TOP/tests/lib.sh"
. "$TOP/tests/rewrite/rewrite.bash"

cat >short.c <<'EOF_SHORT'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { BLOCKS = 2000 };
static volatile long table[BLOCKS][8] __attribute__((aligned(4096)));
__attribute__((noinline)) static void sweep(void) {
    for (int i = 0; i < BLOCKS; i++)
        (void)table[i][0];
}
static void *work(void *times) {
    for (long i = 0; i < (long)times; i++)
        sweep();
    return NULL;
}
/* THREADS at once, TIMES each, ROUNDS one after the other; prints the most memory in use. */
int main(int argc, char **argv) {
    long n = atol(argv[1]), times = atol(argv[2]), rounds = atol(argv[argc - 1]);
    for (long round = 0; round < rounds; round++) {
        pthread_t ids[100];
        for (long i = 0; i < n; i++)
            pthread_create(&ids[i], NULL, work, (void *)times);
        for (long i = 0; i < n; i++)
            pthread_join(ids[i], NULL);
    }
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmHWM:", 6) == 0)
            printf("%ld\n", atol(line + 6));
    return 0;
}
EOF_SHORT
gcc -O1 -g -pthread -o short short.c && "$tool" -m -r "$runtime" short short.i

# measured ARGUMENT...: kilobytes in measured.out, "thread cold reused" of the loop in cold: what is
# reused has the whole table in between.
measured() {
    rm -rf raw && mkdir raw
    PMODEL_OUT=$TMP/raw PMODEL_BLOCK=64 PMODEL_BIN_WIDTH=0 timeout 100 ./short.i "$@" >measured.out
    "$tool" -d raw/*.raw | awk '{
        n = 0
        split(substr($0, index($0, ":") + 1), word)
        for (i = 1; i in word; i += 4) {
            split(word[i], ends, "-")
            if (ends[1] >= 1999 && ends[2] <= 2010) n += word[i + 2]
        }
        if ($14 >= 2000) print $4, $14, n }' | sort -n >cold
}
measured 1 3 1
check "three times in one thread: the second and third find what the first brought" \
    test "$(cat cold)" = "1 2000 4000"
measured 1 1 3
check "three threads of the same number, one after the other: nobody finds anything" \
    test "$(cat cold)" = "1 6000 0"
measured 3 2 2
check "threads at once: each finds its own only" \
    test "$(awk '{ threads++; cold += $2; hits += $3 } END { print cold, hits }' cold)" = "12000 12000"

measured 4 1 5
few=$(cat measured.out)
measured 4 1 500
many=$(cat measured.out)
check "two thousand threads need as much memory as twenty ($few and $many KB)" \
    test "$many" -lt $((few * 5 / 4 + 1000))
