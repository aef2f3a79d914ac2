# `pmodel run --build`: a program that is built anew for each size, and what its builds share.
. "$TOP/tests/lib.sh"

cp "$TOP/tests/programs/fixed.c" "$TOP/tests/programs/fixed.f90" .
flags=$(pmodel flags)
build="gcc -O2 -g -fno-tree-vectorize $flags -DN={N} -o fixed fixed.c"

# sql STORE QUERY
sql() {
    sqlite3 "$1" "$2"
}
# expect NAME EXPECTED ACTUAL
expect() {
    if [ "$3" = "$2" ]; then pass "$1"; else fail "$1" "$3 and not $2"; fi
}
# histograms STORE N ROUTINE: without what each build has of its own, numbers, types and strides.
histograms() {
    pmodel show --as histograms "$1" -P "N=$2" --routine "$3" --format csv | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print([row[key] for key in row if key not in ("group", "object_type", "strides")])'
}
# iterations STORE LOOP: the formula of the iterations of a loop, without its variable.
iterations() {
    pmodel fit --models --format csv "$1" | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    if row["quantity"] == "iterations" and row["label"].split(" ")[0] == sys.argv[1]:
        print(row["formula"])' "$2"
}

check "sizes are built, run, and put into one store" \
    pmodel run -o c.pmdb -P N=32:64:8 --block 64 --build "$build" -- ./fixed
expect "all runs are in it" 5 "$(sql c.pmdb 'SELECT count(*) FROM run')"
expect "its structure is that of one build" 1 "$(sql c.pmdb 'SELECT count(*) FROM structure')"

# What a build measures in a store of its own is what the common store has.
for n in 40 64; do
    sh -c "${build/'{N}'/$n}"
    pmodel run -q -o alone.pmdb --block 64 -P N=$n -- ./fixed >/dev/null
    for routine in step sum_columns add_table; do
        for store in alone c; do
            histograms $store.pmdb $n $routine >$store.txt
        done
        check "N=$n has $routine's histograms as its build has them alone" cmp alone.txt c.txt
        check "there are some of $routine at N=$n" grep -q cold c.txt
    done
    rm -f alone.pmdb
done
check "models are made over all builds" pmodel fit c.pmdb
# 6 calls of step: (N - 2)^2 points each.
expect "a loop's iterations are exact over builds" "6*N^2 - 24*N + 24" \
    "$(iterations c.pmdb step/2)"
expect "strides that grow with the size are noted" 1 \
    "$(sql c.pmdb "SELECT count(*) > 0 FROM build_difference WHERE kind = 'strides'
        AND place LIKE 'u in sum_columns%'")"
expect "strides of a fixed extent are not" 0 \
    "$(sql c.pmdb "SELECT count(*) FROM build_difference WHERE kind = 'strides'
        AND place LIKE 'table in %'")"

# A loop that is there in some builds only.
check "builds that differ go into one store" \
    pmodel run -o d.pmdb -P N=32:160:32 --block 64 --build "$build" -- ./fixed 2>d.err
pmodel run -o d.pmdb -P N=32 --again --block 64 --build "$build" -- ./fixed >/dev/null 2>d.err
check "what is matched by its source only is said with its share" \
    grep -qE 'N=32 .*[0-9.]+% of the accesses are in code that differs.*count by their source: fold/1 fixed.c:[0-9]+ \(other' d.err
expect "the loop that vanished is kept" "not there" \
    "$(sql d.pmdb "SELECT CASE mismatch WHEN 1 THEN 'not there' END FROM build_difference
        WHERE place LIKE 'fold/2%' LIMIT 1")"
check "models are made of it" pmodel fit d.pmdb
pmodel fit d.pmdb >/dev/null 2>fit.err
check "all accesses have models" sh -c '! grep -q "has no models" fit.err'
# misses STORE: accesses, misses of three caches and first touches at N=32, of the whole program.
misses() {
    pmodel query --format json --cache 64,4K,32K -P N=32 "$1" |
        jq -c '[.answers[] | [.accesses, .misses, .first_touches]]'
}
sh -c "${build/'{N}'/32}"
pmodel run -q -o d32.pmdb --block 64 -P N=32 -- ./fixed >/dev/null
# But for a block or two, by where the stack begins.
expect "whatever differs, the whole program has the misses that its build has alone" true \
    "$(jq -n --argjson a "$(misses d32.pmdb)" --argjson b "$(misses d.pmdb)" \
        '[$a, $b] | transpose | all(.[]; transpose | all(.[]; .[0] - .[1] | fabs <= 2)) and $a[0][0] == $b[0][0]')"
expect "other loops have exact models" "6*N^2 - 24*N + 24" "$(iterations d.pmdb step/2)"
pmodel fit --flagged --format csv d.pmdb >flagged.csv
check "a loop that vanished is listed" grep -q 'fold/2.*builds differ' flagged.csv
pmodel fit --flagged --format csv c.pmdb >flagged.csv
check "an array of fixed extent is listed" grep -q 'add_table/2.*accesses to table.*fixed extent' flagged.csv
check "one whose extent is the size is not" sh -c '! grep -q "accesses to [uv],.*fixed extent" flagged.csv'
pmodel run -q -o d.pmdb -m r12000 -P N=32:160:32 --build "$build" -- ./fixed >/dev/null 2>&1 # a machine's sizes
pmodel fit d.pmdb >/dev/null
check "a report says that code is not the same in all builds" \
    sh -c 'pmodel report -m r12000 -P N=256 d.pmdb | tr "\n" " " | tr -s " " |
        grep -q "not the same in the builds of all sizes.*taken as the build of the last size.*fold"'
expect "in JSON its counts are known" true \
    "$(pmodel report -m r12000 -P N=256 --format json d.pmdb | python3 -c 'import json, sys
rows = [row for one in json.load(sys.stdin)["predictions"] for row in one["rows"]]
print(json.dumps([row["counted"] for row in rows if row["label"].startswith("fold/2")][0]))' 2>&1)"

# Where nothing is known of what differs by its source: how much is missing is not known, and said.
cp d.pmdb old.pmdb
sql old.pmdb 'DELETE FROM build_join; DELETE FROM build_total; DELETE FROM build_work' >/dev/null
pmodel fit old.pmdb >/dev/null 2>&1
pmodel query --cache 32K -P N=320 old.pmdb >old.txt
check "what is dropped then is said before the figures" sh -c 'head -3 old.txt | grep -q "unknown share"'
expect "an interval is not given then" null \
    "$(pmodel query --format json --cache 32K -P N=320 old.pmdb | jq -c '.answers[0].interval')"
expect "JSON has the warning" dropped \
    "$(pmodel query --format json --cache 32K -P N=320 old.pmdb | jq -r '[.warnings[].kind] | map(select(. == "dropped"))[0]')"

# Kernels whose loops are compiled otherwise for each size.
BUILD=$PWD BUILDS_ONLY=both_at_once,jacobi_2d JOBS=2 bash "$TOP/bench/accuracy/builds.sh" 2>/dev/null
kernels() {
    jq -r -L "$TOP/bench/accuracy" "include \"builds\"; builds_figures | select(.name == \"$1\") | .value ${2-}" validate/builds.json
}
expect "kernels' misses at twice the largest size are off by 3% at most" true "$(kernels builds_misses_worst '<= 0.03')"
expect "none is far off without a word" 0 "$(kernels builds_silent)"
expect "time is within a tenth of that of the measured run" true \
    "$(jq 'all(.[]; .time > 0.9 and .time < 1.1)' validate/builds.json)"

# A build that fails, and one that is not made anew.
fails="test {N} != 48 && $build || { echo no room for 48 >&2; exit 7; }"
expect_error "a build that fails is told with its last words" 2 \
    '--build .* ended with status 7, last saying: no room for 48; that size is left out' \
    pmodel run -o f.pmdb -P N=32:64:8 --block 64 --build "$fails" -- ./fixed
expect "what could be built was measured and stays" "N=32 N=40 N=56 N=64" \
    "$(sql f.pmdb 'SELECT parameters FROM run ORDER BY parameters' | tr '\n' ' ' | sed 's/ $//')"
expect_error "if the last size cannot be built, another one's build is taken" 2 'left out' \
    pmodel run -o g.pmdb -P N=32,40,48 --block 64 --build "$fails" -- ./fixed
expect "and the others are measured" 2 "$(sql g.pmdb 'SELECT count(*) FROM run')"
pmodel run -o h.pmdb -P N=32,40 --block 64 --build "true {N}" -- ./fixed >/dev/null 2>same.err
check "a build that is the one before is told" grep -q 'made the same program' same.err

# What is there is not built again.
echo "$build && echo {N} >>built" >script
pmodel run -q -o c.pmdb -P N=32:72:8 --block 64 --build "$(cat script)" -- ./fixed >/dev/null 2>&1
expect "another command for the build makes new runs" 6 "$(wc -l <built)"
pmodel run -q -o c.pmdb -P N=32:80:8 --block 64 --build "$(cat script)" -- ./fixed >/dev/null 2>&1
expect "a size that is there is not built again" 7 "$(wc -l <built)"

# Fortran, and a size that was not fitted.
fortran="gfortran -O2 -g -cpp $flags -DEXTENT={N} -o ffixed fixed.f90"
check "a Fortran program is built for each size" \
    pmodel run -o fortran.pmdb -P N=16:48:8 --block 64 --build "$fortran" -- ./ffixed
check "models are made of it" pmodel fit fortran.pmdb
check "a size is built and validated" \
    pmodel validate -s fortran.pmdb -P N=64 --block 64 --build "$fortran" --format json \
    -- ./ffixed
pmodel validate -s fortran.pmdb -P N=64 --block 64 --build "$fortran" -- ./ffixed >v.txt 2>v.err
check "the comparison is there" grep -q 'N=64' v.txt

# What the build of the validated size does not have is in neither figure, and in no end of its interval.
cat >part.c <<'END'
static double a[N][N], b[N][N];
__attribute__((noipa)) static void stays(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] += 1;
}
__attribute__((noipa)) static void goes(void) {
#if N < 64
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            b[j][i] += a[i][j];
#endif
}
int main(void) {
    stays();
    goes();
    return b[1][1] < 0;
}
END
part="gcc -O1 -g $flags -DN={N} -o part part.c"
check "a program that lacks a loop at one size is modelled" bash -c "
    pmodel run -q -o part.pmdb -P N=16:48:8 --block 64 --build '$part' -- ./part && pmodel fit part.pmdb"
pmodel validate -q -s part.pmdb -P N=64 --block 64 --build "$part" --format json -- ./part >part.json
expect "interval ends of a validated size are without what its build does not have" true \
    "$(jq '.sizes[0].comparisons[] | select(.quantity == "accesses") |
        .predicted == .measured and .low == .high and .high == .measured' part.json)"

expect_error "--build has no times" 2 'time and --build exclude each other' \
    pmodel run -o x.pmdb -P N=32 --time --build "$build" -- ./fixed
expect_error "--build has no carriers" 2 'exclude each other' \
    pmodel run -o x.pmdb -P N=32 --carry --build "$build" -- ./fixed
expect_error "an unknown name in --build is told" 2 '\{K\} is no parameter' \
    pmodel run -o x.pmdb -P N=32 --build "make K={K}" -- ./fixed
expect_error "an empty command is refused" 2 'takes a command' \
    pmodel run -o x.pmdb -P N=32 --build "" -- ./fixed
expect_error "a program that the build does not make is told" 2 'no such program' \
    pmodel run -o x.pmdb -P N=32 --build "true" -- ./nothing
dry=$(pmodel run --dry-run -P N=8,16 --build 'make N={N}' -- ./a)
expect "a dry run shows the builds" $'N=8: make N=8 && ./a\nN=16: make N=16 && ./a' "$dry"
