# `pmodel loops --groups`: the copies that the compiler makes of a source reference when it unrolls a loop
# are one group, with metadata and without; irregular references are marked; table, JSON and CSV agree.
. "$TOP/tests/lib.sh"

cat >copies.c <<'END'
#define ALONE __attribute__((noipa))
struct point { double x, y; };
double a[1000], b[1000], c[1000];
int chosen[1000];
ALONE void triad(long n, double s) {
    for (long i = 0; i < n; i++)
        a[i] = b[i] * s + c[i];
}
ALONE double gather(const double *from, long n) {
    double s = 0;
    for (long i = 0; i < n; i++)
        s += from[chosen[i]];
    return s;
}
ALONE void column(double *at, long n) {
    for (long i = 0; i < n; i++)
        at[i * n] += 1;
}
ALONE double fields(const struct point *at, long n) {
    double s = 0;
    for (long i = 0; i < n; i++)
        s = s * at[i].x + at[i].y;
    return s;
}
int main(int argc, char **argv) {
    (void)argv;
    triad(argc, argc);
    column(a, argc);
    return gather(b, argc) + fields((struct point *)c, argc) > 0;
}
END

# groups PROGRAM OPTION...: of the largest loop of each routine, "routine loads stores irregular" of
# every group with more than one reference.
groups() {
    local program=$1
    shift
    for routine in triad gather column fields; do
        pmodel loops --groups --format json --routine "$routine" "$@" "$program" | jq -r --arg r "$routine" '
            [.scopes[] | select(.kind == "loop")] | max_by([.groups[] | .loads + .stores] | add) | .groups
            | map(select(.loads + .stores > 1) | [$r, .loads, .stores, .irregular])
            | sort[] | map(tostring) | join(" ")'
    done
}

expected='triad 0 8 false
triad 8 0 false
triad 8 0 false
gather 8 0 false
gather 8 0 true
column 8 8 false
fields 16 0 false'
for vector in -fno-tree-vectorize ''; do
    # shellcheck disable=SC2046,SC2086 # words
    check "groups: the program compiles ($vector)" gcc -O3 -g -funroll-loops $vector $(pmodel flags) \
        -o copies copies.c || exit
    objcopy -R .pmodel copies copies.plain
    for program in copies copies.plain; do
        groups "$program" >found.txt
        [ "$vector" ] && check "copies of an unrolled reference are one group ($program)" \
            diff found.txt - <<<"$expected"
        check "and each array of the loop has one ($program $vector)" bash -c '
            [ "$(grep -c triad found.txt) $(grep -c column found.txt)" = "3 1" ] &&
                [ "$(grep -c "gather.*true" found.txt)" = 1 ]'
    done
done

pmodel loops --groups copies >groups.txt
pmodel loops --groups --format csv copies >groups.csv
pmodel loops --groups --format json copies >groups.json
check "the table has object, type, counts, bytes and strides, and marks what is irregular" bash -c '
    grep -q "group [0-9]*: b (double\[1000\]), loads [0-9]*, stores 0, .* bytes each; strides: [0-9]" groups.txt &&
        grep -q "strides: indirect \[irregular\]" groups.txt'
same_groups() {
    jq -r '.scopes[].groups[] | "\(.group) \(.loads) \(.stores)"' groups.json | sort >json.list
    grep -o 'group [0-9]*: .*' groups.txt |
        sed -E 's/group ([0-9]+): .*, loads ([0-9]+), stores ([0-9]+),.*/\1 \2 \3/' | sort >table.list
    sqlite3 -cmd '.mode csv' -cmd '.import groups.csv lines' -cmd '.mode list' -cmd ".separator ' '" \
        :memory: "select \"group\", loads, stores from lines where record = 'group'" |
        tr -d '\r' | sort >csv.list
    [ -s json.list ] && cmp json.list table.list && cmp json.list csv.list
}
check "table, JSON and CSV have the same groups" same_groups
