# Programs for AArch64: looked at by `pmodel loops`, refused by `pmodel run`; the same loops as in
# the x86-64 program of the same source, all jump tables of switches, strides of the source, and
# the compiler's control flow.
# shellcheck shell=bash
. "$TOP/tests/lib.sh"
compiler=aarch64-linux-gnu-gcc-12

# How many loops there are at each depth. First lines differ: instructions are ordered otherwise.
depths_of() {
    pmodel loops --plain --format json "$1" 2>>messages |
        jq -r '.. | objects | select(.kind? == "loop" and .file != null) | .depth' | sort | uniq -c
}

same_loops() {
    $compiler -O1 -g -o "$1.arm" "$TOP/bench/apps/$1/$1.c" -lm || return
    gcc-12 -O1 -g -o "$1.x86" "$TOP/bench/apps/$1/$1.c" -lm || return
    depths_of "$1.arm" >"$1.arm.loops"
    depths_of "$1.x86" >"$1.x86.loops"
    [ "$(wc -l <"$1.arm.loops")" -ge 2 ] && diff "$1.x86.loops" "$1.arm.loops"
}
for name in heat cg fft matmul multigrid; do
    check "$name: as many loops at each depth as on x86-64" same_loops "$name"
done

expect_error "an AArch64 program is not measured, in one sentence" 2 \
    'is a program for aarch64: it can be looked at, but only x86-64 programs can be measured' \
    pmodel run -o heat.pmdb -P N=8 -- "$PWD/heat.arm" '{N}'

# Every jump table of the compiler's is found: as many as its text has, with as many targets.
cat >switches.c <<'C'
int sink(int);
#define CASE(n) case n: r += sink(n * 3 + r); break;
#define EIGHT(n) CASE(n) CASE(n + 1) CASE(n + 2) CASE(n + 3) CASE(n + 4) CASE(n + 5) CASE(n + 6) CASE(n + 7)
#define MANY(n) EIGHT(n) EIGHT(n + 8) EIGHT(n + 16) EIGHT(n + 24) EIGHT(n + 32) EIGHT(n + 40)
int small(int k) { int r = 0; switch (k) { EIGHT(0) } return r; }
int large(int k) { int r = 0; switch (k) { MANY(-3) MANY(60) default: r = sink(1); } return r; }
int looped(const unsigned char *p, int n) {
    int r = 0;
    for (int i = 0; i < n; i++) {
        switch (p[i]) { EIGHT(10) }
        switch (p[i + 1] & 7) { EIGHT(0) }
    }
    return r;
}
int huge(int k) {
    int r = 0;
    switch (k) { MANY(0) MANY(48) MANY(96) MANY(144) MANY(192) MANY(240) MANY(288) MANY(336) }
    return r;
}
int sink(int x) { static volatile int s; s += x; return s; }
int main(int n, char **v) { return small(n) + large(n) + huge(n) + looped((unsigned char *)v[0], n); }
C
all_tables() {
    # shellcheck disable=SC2086
    $compiler $1 -S -o switches.s switches.c && $compiler $1 -o switches switches.c || return
    tables=$(grep -cE '^\s*br\sx[0-9]+' switches.s)
    pmodel loops --plain --format json switches 2>>messages >switches.json || return
    jq -e --argjson n "$tables" '.statistics | $n >= 2 and .indirect_jumps == $n and
        .indirect_jumps_resolved == $n' switches.json
}
for level in -O0 -O1 -O2 -O3 -Os '-O2 -fPIC' '-O2 -mbranch-protection=standard'; do
    check "all jump tables are found at $level" all_tables "$level"
done

# Strides that the source has, from addresses with writeback, scaled and extended registers.
cat >strides.c <<'C'
double a[1000], b[4000], far_off[90][12345]; float m[64][48]; struct { int x, y, z; } s[500];
void sweep(long n) { for (long i = 0; i < n; i++) a[i] += b[4 * i]; }
float column(int j) { float t = 0; for (int i = 0; i < 64; i++) t += m[i][j]; return t; }
int members(int n) { int t = 0; for (int i = 0; i < n; i++) t += s[i].y; return t; }
double rows(int j) { double t = 0; for (int i = 0; i < 90; i++) t += far_off[i][j]; return t; }
int main(int n, char **v) { (void)v; sweep(n); return (int)(column(n) + rows(n)) + members(n); }
C
strides_of() {
    pmodel loops --plain --groups --format json --routine "$2" "strides.$1" 2>>messages |
        jq -r '[.. | objects | .strides_innermost_first? // empty | .[] | .bytes? // empty] | unique | map(tostring) | join(" ")'
}
for level in -O1 '-O2 -fno-tree-vectorize'; do
    # shellcheck disable=SC2086
    $compiler $level -g -fno-inline -o strides.arm strides.c
    for expected in 'sweep:8 32' 'column:192' 'members:12' 'rows:98760'; do
        found=$(strides_of arm "${expected%%:*}")
        check "strides of ${expected%%:*} at $level" [ "$found" = "${expected#*:}" ]
    done
done

# With the plugin in the cross compiler: block starts and successors are the compiler's, whether the
# lifter knows them or not.
same_control_flow() {
    local source=$1
    shift
    # shellcheck disable=SC2046
    $compiler -g -w $(pmodel flags) "$@" -o checked "$source" -lm &&
        pmodel loops --check --format json checked 2>>messages >checked.json &&
        jq -e '(.routines | length) >= 5 and .with_metadata.agree == .with_metadata.routines and
            .plain.agree == .plain.routines' checked.json
}
for name in heat cg fft; do
    for level in -O0 -O2 '-O3 -march=armv8.2-a+sve'; do
        # shellcheck disable=SC2086
        check "$name: the compiler's control flow at $level" \
            same_control_flow "$TOP/bench/apps/$name/$name.c" $level
    done
done
check "switches: the compiler's control flow" same_control_flow switches.c -O1
