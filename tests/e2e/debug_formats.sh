# Source lines, inlined code and names are the same wherever and however the debug information is
# kept: DWARF 4 and 5, compressed, split, in a file of its own, shared by dwz; where it is kept in a
# way that cannot be read, a sentence says so. All of it is made by the real tools. Keys of scopes
# survive renaming, moving and rebuilding.
# time limit: 300 s
. "$TOP/tests/lib.sh"

mkdir src
cat >src/shared.h <<'CC'
#include <vector>
namespace ns {
template <class T> inline T scale(std::vector<T> &v, T f) {
    T s = 0;
    for (auto &x : v) {
        x *= f;
        s += x;
    }
    return s;
}
} // namespace ns
CC
cat >src/one.cc <<'CC'
#include "shared.h"
#include <cstdio>
#include <map>
#include <string>
int other(std::map<std::string, int> &m);
__attribute__((noinline)) double work(std::vector<double> &v, int n) {
    double t = 0;
    for (int i = 0; i < n; i++) {
        t += ns::scale(v, 0.5);
        t += ns::scale(v, 0.25);
    }
    return t;
}
int main(int argc, char **argv) {
    std::vector<double> v(argc * 1000, 1.0);
    std::map<std::string, int> m;
    for (int i = 0; i < argc; i++)
        m[argv[i]]++;
    printf("%g %d\n", work(v, argc), other(m));
}
CC
cat >src/two.cc <<'CC'
#include "shared.h"
#include <map>
#include <string>
int other(std::map<std::string, int> &m) {
    int s = 0;
    for (auto &p : m) {
        s += p.second;
        for (char c : p.first)
            s ^= c;
    }
    std::vector<float> f(m.size(), 2.f);
    return s + (int)ns::scale(f, 3.f);
}
CC
compile() { # PROGRAM OPTIONS…
    local program=$1
    shift
    g++ -O2 -g "$@" -o "$program" src/one.cc src/two.cc
}
# objects FOLDER OPTIONS…: what programs that differ by their links are linked of.
objects() {
    local folder=$1 source
    shift
    mkdir -p "$folder"
    for source in one two; do
        g++ -O2 -g "$@" -c -o "$folder/$source.o" src/$source.cc || return
    done
}

# scopes PROGRAM: all that is known of it but the file's own name.
scopes() {
    pmodel loops --format json "$1" | jq -S 'del(.modules, .program)'
}
# same NAME PROGRAM REFERENCE: PROGRAM has the scopes in the file REFERENCE.
same() {
    if scopes "$2" >scopes.out && cmp -s scopes.out "$3"; then
        pass "$1"
    else
        fail "$1" "$(diff scopes.out "$3" | head -n 5)"
    fi
}
# differs NAME PROGRAM REFERENCE: so that `same` is no tautology.
differs() {
    scopes "$2" >scopes.out
    check "$1" test "$(jq '[.scopes[] | select(.kind == "loop" and .line_first == null)] | length' \
        scopes.out)" -gt 0
}

# says NAME PROGRAM TEXT: the report on PROGRAM has TEXT (a regular expression) in a sentence.
says() {
    pmodel loops "$2" >says.out
    tr -s ' \n' ' ' <says.out | grep >/dev/null "$3" && pass "$1" || fail "$1" "$(head -n 12 says.out)"
}

for v in 4 5; do
    check "DWARF $v: compiles" objects "objects$v" "-gdwarf-$v"
    g++ -o "plain$v" "objects$v"/*.o
    scopes "plain$v" >"plain$v.json"
    check "DWARF $v: no loop is without a line" jq -e \
        '[.scopes[] | select(.kind == "loop")] | length > 8 and all(.line_first > 0 and .file)' \
        "plain$v.json"
    check "DWARF $v: inlined code has its call site" jq -e \
        '[.scopes[] | select(.kind == "inlined" and .name == "double ns::scale<double>(std::vector<double, std::allocator<double> >&, double)") | "\(.call_file | sub(".*/"; "")):\(.call_line)"] | sort == ["one.cc:10", "one.cc:9"]' \
        "plain$v.json"

    # binutils reads the same lines: of the frames at a loop's header one is within its range
    jq -r '.scopes[] | select(.kind == "loop") |
        "\(.header) \(.file | sub(".*/"; "")) \(.line_first) \(.line_last)"' "plain$v.json" >loops
    bad=0
    while read -r address file first last; do
        addr2line -i -e "plain$v" "$address" | sed 's/ (.*//; s,.*/,,' |
            awk -F: -v f="$file" -v a="$first" -v b="$last" \
                '$1 == f && $2 >= a && $2 <= b { found = 1 } END { exit !found }' ||
            { bad=$((bad + 1)) && echo "    $address $file $first-$last"; }
    done <loops
    [ "$bad" -eq 0 ] && [ -s loops ] && pass "DWARF $v: addr2line has the loops' lines" ||
        fail "DWARF $v: addr2line has the loops' lines" "$bad do not"

    for z in zlib zlib-gnu zstd; do
        objcopy --compress-debug-sections=$z "plain$v" "packed$v$z"
        [ $z = zstd ] || same "DWARF $v: compressed by $z" "packed$v$z" "plain$v.json"
    done
    says "DWARF $v: compressed by zstd is not readable" "packed${v}zstd" \
        "packed${v}zstd is compressed by zstd, which this elfutils cannot read: .* unknown;"
    objcopy --decompress-debug-sections "packed${v}zstd"
    same "DWARF $v: the advice on zstd helps" "packed${v}zstd" "plain$v.json"

    # a file of its own
    objcopy --only-keep-debug "plain$v" "stripped$v.debug"
    objcopy --strip-debug "plain$v" "stripped$v"
    same "DWARF $v: NAME.debug beside it" "stripped$v" "plain$v.json"
    mkdir -p apart
    mv "stripped$v.debug" apart/
    differs "DWARF $v: without its debug file lines are unknown" "stripped$v" "plain$v.json"
    (cd apart && objcopy --add-gnu-debuglink="stripped$v.debug" "../stripped$v" "../linked$v")
    mkdir -p .debug
    cp "apart/stripped$v.debug" .debug/
    same "DWARF $v: .gnu_debuglink, in .debug" "linked$v" "plain$v.json"
    g++ "-gdwarf-$v" -O1 -o "other$v" src/one.cc "objects$v/two.o"
    objcopy --only-keep-debug "other$v" ".debug/stripped$v.debug"
    differs "DWARF $v: a debug file with another build-id is not taken" "linked$v" "plain$v.json"
    rm ".debug/stripped$v.debug"

    # a file of its own, of a program without a build-id
    g++ -Wl,--build-id=none -o "nameless$v" "objects$v"/*.o
    scopes "nameless$v" >"nameless$v.json"
    objcopy --only-keep-debug "nameless$v" "nameless$v.debug"
    objcopy --strip-debug "nameless$v" "bare$v"
    cp "nameless$v.debug" "bare$v.debug"
    differs "DWARF $v: NAME.debug is not taken without a build-id" "bare$v" "plain$v.json"
    objcopy --add-gnu-debuglink="nameless$v.debug" "bare$v" "checked$v"
    same "DWARF $v: .gnu_debuglink with a checksum" "checked$v" "nameless$v.json"
    printf 'x' >>"nameless$v.debug"
    differs "DWARF $v: a debug file with another checksum is not taken" "checked$v" "plain$v.json"
    id=$(readelf -n "plain$v" | awk '/Build ID/ {print $3}')
    mkdir -p "root/.build-id/${id:0:2}"
    cp "apart/stripped$v.debug" "root/.build-id/${id:0:2}/${id:2}.debug"
    PMODEL_DEBUG_PATH=/nowhere:$PWD/root same "DWARF $v: by build-id" "stripped$v" "plain$v.json"
    PMODEL_DEBUG_PATH=$PWD/apart same "DWARF $v: .gnu_debuglink, elsewhere" "linked$v" "plain$v.json"

    check "DWARF $v: compiles with split debug information" compile "split$v" "-gdwarf-$v" \
        -gsplit-dwarf
    same "DWARF $v: .dwo files" "split$v" "plain$v.json"
    # (llvm-dwp does not come to an end with both files of DWARF 5.)
    timeout 60 llvm-dwp-19 "split$v-one.dwo" -o "split$v.dwp"
    rm -f ./*.dwo
    says "DWARF $v: packages of .dwo files are not readable" "split$v" \
        "split debug information is not there (.*one.dwo, .*packages, .dwp, cannot be read"
    check "DWARF $v: without .dwo files lines are known, of inlined code nothing" jq -e \
        '[.scopes[] | select(.kind == "loop")] | length > 8 and any(.line_first > 0)' \
        <(pmodel loops --format json "split$v")

    # shared by dwz
    cp "plain$v" "first$v"
    cp "plain$v" "second$v"
    dwz -m "common$v" "first$v" "second$v"
    same "DWARF $v: shared by dwz" "first$v" "plain$v.json"
    same "DWARF $v: shared by dwz, the other program" "second$v" "plain$v.json"
    cp "other$v" "third$v"
    cp "other$v" "fourth$v"
    mv "common$v" "kept$v"
    says "DWARF $v: the file shared by dwz is missed" "first$v" \
        "shares parts with common$v, which is not there: names of inlined code are unknown"
    dwz -m "common$v" "third$v" "fourth$v"
    says "DWARF $v: a file shared by dwz of another build is not taken" "first$v" \
        "shares parts with common$v, which is of another build: .* are unknown"
    id=$(readelf -n "kept$v" | awk '/Build ID/ {print $3}')
    mkdir -p "root/.build-id/${id:0:2}"
    mv "kept$v" "root/.build-id/${id:0:2}/${id:2}.debug"
    PMODEL_DEBUG_PATH=$PWD/root same "DWARF $v: shared by dwz, by build-id" "first$v" "plain$v.json"
    [ $v = 5 ] || continue
    cp "plain$v" fifth5
    cp "plain$v" sixth5
    dwz --dwarf-5 -m common55 fifth5 sixth5
    same "DWARF $v: shared by dwz with .debug_sup" fifth5 "plain$v.json"
done

# Code that the linker dropped keeps its rows, at address 0 and on into the text.
{
    echo 'volatile int v[1000]; int dropped(void) { int s = 0;'
    for i in {2..899}; do echo "s += v[$i] * $i;"; done
    echo 'return s; }'
    for i in {1..400}; do
        printf '__attribute__((noinline)) int kept%d(int n) { int s = 0;\n' "$i"
        printf 'for (int i = 0; i < n; i++)\ns += v[i] * %d;\nreturn s; }\n' "$i"
    done
    echo 'int main(int n, char **x) { return 0'
    for i in {1..400}; do echo "+ kept$i(n)"; done
    echo '; }'
} >dropped.c
lines_of_loops() {
    pmodel loops --format json "$1" |
        jq -c '[.scopes[] | select(.kind == "loop") | [.name, .line_first, .line_last]]'
}
gcc -O1 -g -ffunction-sections -o all_kept dropped.c
gcc -O1 -g -ffunction-sections -Wl,--gc-sections -o some_dropped dropped.c
lines_of_loops all_kept >all.lines
lines_of_loops some_dropped >some.lines
check "dropped code: no loop has its lines" jq -e 'length == 400 and all(.[1] > 900)' some.lines
check "dropped code: loops behind it have theirs" jq -e --slurpfile all all.lines \
    '. as $some | $all[0][300:] == $some[300:]' some.lines

# keys PROGRAM: of all scopes of the sources.
keys() { # labels without the addresses of those that look the same
    pmodel loops --format json "$1" | jq -r '.scopes[] |
        select(.file) | "\(.key) \(.kind) \(.label | sub(", 0x[0-9a-f]+"; ""))"' | sort
}
# kept NAME PROGRAM: PROGRAM has the keys that are in the file keys.before.
kept() {
    keys "$2" >keys.after
    cmp -s keys.before keys.after && [ -s keys.before ] && pass "$1" ||
        fail "$1" "$(diff keys.before keys.after | head -n 6)"
}
keys plain5 >keys.before
cp plain5 renamed
kept "keys survive renaming the program" renamed
kept "keys are those of DWARF 4, too" plain4
check "compiles elsewhere" bash -c "cp -r src moved; mkdir -p deep/er; cd deep/er &&
    g++ -O2 -g -gdwarf-5 -Wl,--build-id=md5 -o ../../elsewhere ../../moved/one.cc ../../moved/two.cc"
kept "keys survive another folder and another link" elsewhere
check "compiles with PIC off" compile fixed -fno-pie -no-pie
kept "keys survive other addresses" fixed
(cd moved && for f in one.cc two.cc shared.h; do
    { echo "// one line more"; echo; cat ../src/$f; } >$f
done)
g++ -O2 -g -o commented moved/one.cc moved/two.cc
pmodel loops --format json commented | jq -r '.scopes[] | select(.kind == "loop") | .key' | sort \
    >loops.after
pmodel loops --format json plain5 | jq -r '.scopes[] | select(.kind == "loop") | .key' | sort \
    >loops.before
check "loops' keys survive lines put in above their routines" cmp loops.before loops.after
check "no two scopes have one key" test -z "$(keys plain5 | cut -d' ' -f1 | uniq -d)"

# A nest, a loop with goto in it and Duff's device, whatever the optimisation.
cat >levels.c <<'CC'
int v[1000];
volatile int sink;
__attribute__((noinline)) void duff(char *to, const char *from, int count) {
    int n = (count + 7) / 8;
    switch (count % 8) {
    case 0:
        do {
            *to++ = *from++;
        case 7: *to++ = *from++;
        case 6: *to++ = *from++;
        case 5: *to++ = *from++;
        } while (--n > 0);
    }
}
__attribute__((noinline)) int two_entries(int n) {
    int i = 0, s = 0;
    if (n & 1)
        goto middle;
top:
    sink = i;
    s += v[i & 511];
middle:
    sink = s;
    i++;
    if (i < n)
        goto top;
    return s;
}
__attribute__((noinline)) void nest(int n, double a[n][n], double b[n][n]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                a[i][j] += b[i][k] * b[k][j];
}
int main(int n, char **x) {
    static double a[10][10], b[10][10];
    char t[64];
    duff(t, x[0], n);
    nest(10, a, b);
    return two_entries(n);
}
CC
for o in -O1 -O2 -O3 -Os '-O2 -funroll-loops' '-O3 -march=x86-64-v3' '-O3 -march=x86-64-v4'; do
    # shellcheck disable=SC2086
    gcc -g $o -o levels levels.c
    pmodel loops --format json levels >levels.json
    jq -r '.scopes[] | select(.kind == "loop") | .key' levels.json | sort -u >levels.after
    [ -e levels.before ] || cp levels.after levels.before
    check "keys of loops are those of -O1 with $o" cmp levels.before levels.after
    check "irreducible regions say where they are entered with $o" jq -e \
        '[.scopes[] | select(.irreducible) | {name, n: (.entries | length)}] |
            map(select(.name == "duff" and .n >= 3 or .name == "two_entries" and .n == 2)) |
            length == 2' levels.json
done
check "there are five loops to compare" test "$(wc -l <levels.before)" -eq 5
