# With the analysis beside the program (PMODEL_SECOND_CORE, pmodel run --second-core) programs behave as
# without, and every histogram is the same to the bit.
# time limit: 600 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/rewrite/rewrite.bash"

# The same addresses in both runs; where the system does not let programs ask for that, arrays of
# pages are still where they were.
fixed='setarch -R'
$fixed true 2>/dev/null || fixed=

# measured WHERE SWITCH PROGRAM ARGUMENT...: output and status in WHERE.out, histograms in WHERE.txt,
# notes in WHERE.notes. SWITCH: a variable. Environments are of the same length, so that stacks are where
# they were.
measured() {
    local where=$1 switch=$2 status=0
    shift 2
    rm -rf "$where.raw" && mkdir "$where.raw"
    # shellcheck disable=SC2086 # several words
    PMODEL_OUT=$TMP/$where.raw PMODEL_BLOCK=64,4096 \
        timeout 60 env "$switch=1" $fixed "$@" >"$where.out" 2>&1 ||
        status=$?
    echo "status $status" >>"$where.out"
    if ls "$where".raw/*.raw >/dev/null 2>&1; then
        "$tool" -d "$where".raw/*.raw 2>"$where.notes" | sort >"$where.txt"
    else
        echo "no file" | tee "$where.notes" >"$where.txt"
    fi
}
within() {
    measured within PMODEL_WITHIN_CORE "$@"
}
beside() {
    measured beside PMODEL_SECOND_CORE "$@"
}
# On one CPU there is a note that says so.
notes_beside() {
    if [ "$(nproc)" -gt 1 ]; then cat beside.notes; else grep -v '1 CPU is all' beside.notes; fi
}
same() {
    check "$1: behaves the same" cmp within.out beside.out
    check "$1: the same histograms" cmp within.txt beside.txt
    check "$1: the same notes" cmp within.notes <(notes_beside)
}

build "-O2" beside && "$tool" -m -r "$runtime" beside beside.i
for way in $(./beside); do
    ./beside "$way" >plain.out 2>&1
    echo "status $?" >>plain.out
    within ./beside.i "$way"
    beside ./beside.i "$way"
    check "$way: behaves as the plain program" cmp plain.out beside.out
    same "$way"
    [ "$way" = last_thread ] || check "$way: something was measured" test "$(wc -l <beside.txt)" -gt 8
done

# ---- exceptions ----
cat >throws.cc <<'EOF_THROWS'
#include <cstdio>
static long table[1 << 14];
__attribute__((noinline)) static long work(long n, int deep) {
    for (long i = 0; i < n; i++)
        table[i * 97 & 0x3fff] += table[i * 31 & 0x3fff];
    if (deep == 0)
        throw n;
    return work(n, deep - 1) + 1;
}
int main() {
    long sum = 0;
    for (int i = 0; i < 12; i++)
        try {
            work(7000 + i, i % 4);
        } catch (long n) {
            sum += n + table[i];
        }
    std::printf("%ld\n", sum);
}
EOF_THROWS
g++ -O1 -g -o throws throws.cc && "$tool" -m -r "$runtime" throws throws.i
within ./throws.i
beside ./throws.i
same "exceptions"
"$tool" -m -e -r "$runtime" throws throws.e
within ./throws.e
beside ./throws.e
same "exceptions with events of all scopes"

# ---- libraries that come and go ----
cat >part.c <<'EOF_PART'
static long table[1 << 13];
long part(long n) {
    for (long i = 0; i < n; i++)
        table[i * WHICH & 0x1fff] += i;
    return table[7];
}
EOF_PART
cat >loads.c <<'EOF_LOADS'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    for (int round = 0; round < 6; round++) {
        void *library = dlopen(round % 2 ? "./libtwo.so" : "./libone.so", RTLD_NOW);
        if (!library)
            return puts(dlerror());
        long (*part)(long) = (long (*)(long))dlsym(library, "part");
        printf("%ld\n", part(40000 + round));
        dlclose(library);
    }
    return 0;
}
EOF_LOADS
gcc -O2 -g -o loads loads.c && "$tool" -m -r "$runtime" loads loads.i
number=1000
for which in one two; do
    gcc -O1 -g -shared -fPIC -DWHICH=$number -o plain.so part.c
    "$tool" -m -r "$runtime" -c $number -f $number plain.so lib$which.so
    number=$((number + 1000))
done
within ./loads.i
beside ./loads.i
same "libraries that come and go"
check "libraries that come and go: are measured" grep -q '^module 2 ' beside.txt

# ---- where there is no second core ----
within ./beside.i threads
beside taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')" \
    ./beside.i threads
check "on one CPU: behaves the same" cmp within.out beside.out
check "on one CPU: the same histograms" cmp within.txt beside.txt
check "on one CPU: there is a note" grep -q '1 CPU is all' beside.notes

cat >no_threads.c <<'EOF_NO'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
/* Runs a command in which clone fails. */
int main(int argc, char **argv) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 99;
    execv(argv[1], argv + 1);
    return 98;
}
EOF_NO
gcc -O1 -o no_threads no_threads.c
within ./no_threads ./beside.i longjmps
beside ./no_threads ./beside.i longjmps
check "where clone fails: behaves the same" cmp within.out beside.out
check "where clone fails: the same histograms" cmp within.txt beside.txt
if [ "$(nproc)" -gt 1 ]; then
    check "where clone fails: there is a note" grep -q 'no thread could be made' beside.notes
fi

# ---- that it is beside ----
cat >tasks.c <<'EOF_TASKS'
#include <dirent.h>
#include <stdio.h>
static long table[1 << 16];
int main(void) {
    for (long i = 0; i < 1000000; i++)
        table[i * 97 & 0xffff] += i;
    DIR *tasks = opendir("/proc/self/task");
    int n = -2;
    while (readdir(tasks))
        n++;
    printf("%d\n", n);
    return 0;
}
EOF_TASKS
gcc -O1 -g -o tasks tasks.c && "$tool" -m -r "$runtime" tasks tasks.i
within ./tasks.i
beside ./tasks.i
check "the analysis has a thread of its own where there are CPUs, and no more than these" \
    test "$(head -n 1 within.out)" = 1 -a "$(head -n 1 beside.out)" -ge "$(($(nproc) > 1 ? 2 : 1))" \
    -a "$(head -n 1 beside.out)" -le "$(nproc)"

# ---- again and again ----
# Each with an eighth of the work: what can go wrong is at the beginnings and ends of threads and where
# buffers change hands, and each thread still fills many.
within ./beside.i threads 8
differ=0 repetitions=$(rounds 200 40)
for _ in $(seq "$repetitions"); do
    beside ./beside.i threads 8
    cmp -s within.out beside.out && cmp -s within.txt beside.txt || differ=$((differ + 1))
done
check "$repetitions repetitions with threads are all the same" test $differ = 0
build "-O2" hard_threads && "$tool" -m -r "$runtime" hard_threads hard.i
./hard_threads >plain.out 2>&1
differ=0 repetitions=$(rounds 20 5)
for _ in $(seq "$repetitions"); do
    beside ./hard.i
    sed '$d' beside.out | cmp -s plain.out - || differ=$((differ + 1))
done
check "$repetitions repetitions of threads in every form behave as the plain program" test $differ = 0

# ---- pmodel run ----
"$PMODEL" run -q -o beside.pmdb --block 64 --second-core -P N=1 -- ./throws >run.out 2>run.err
check "pmodel run has it" test $? = 0
# Stores of the two, without what tells when and how long; the environments are equally long.
for option in "--second-core" "--env PMODEL_WITHIN_CORE=1"; do
    rm -f carry.pmdb
    # shellcheck disable=SC2086 # several words
    $fixed "$PMODEL" run -q -o carry.pmdb --block 64 --carry $option -P N=1 -- ./throws >/dev/null 2>&1
    sqlite3 carry.pmdb .dump | grep -v 'INSERT INTO run\|INSERT INTO meta' >"carry.${option:2:3}"
done
check "what carries a reuse is the same too" sh -c 'grep -q "INTO carried" carry.sec && cmp carry.sec carry.env'
expect_error "not without an analysis" 2 '--second-core' \
    "$PMODEL" run -o other.pmdb --no-memory --second-core -P N=1 -- ./throws
