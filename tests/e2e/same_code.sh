# A store takes runs of builds whose code is the same: after a comment was added, built in another folder,
# with line numbers and file names in the program. What differs in any other way is another build.
. "$TOP/tests/lib.sh"

mkdir -p first second/much/deeper
cat >first/sum.cc <<'END'
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <vector>
static int pick(int n) {
    switch (n % 7) {
    case 0: return 3;
    case 1: return 19;
    case 2: puts("two"); return 5;
    case 3: return n;
    case 4: return n * n;
    case 5: abort();
    default: return 1;
    }
}
int main(int, char **argv) {
    int n = atoi(argv[1]);
    assert(n > 0);
    std::vector<double> v(n, 1.5);
    double sum = 0.25;
    for (int i = 0; i < n; i++) {
        assert(v[i] > 0 && "positive");
        sum += v[i] * 0.75;
    }
    printf("%g %d %s\n", sum, pick(n % 4), __FILE__);
}
END
# build NAME SOURCE: by its whole path, so that __FILE__ has the folder.
build() { g++ -O2 -g -fno-tree-vectorize $(pmodel flags) -o "$1" "$PWD/$2"; }
# variant NAME COMMAND: the source as sed changes it, in the deeper folder.
variant() { sed "$2" first/sum.cc >second/much/deeper/sum.cc && build "$1" second/much/deeper/sum.cc; }

check "the program builds" build sum first/sum.cc
check "its runs go into a store" pmodel run -q -o sum.pmdb -m r12000 -P N=16 -- ./sum '{N}'
check "it builds in another folder, with comments" variant moved '1i // a comment\n// of two lines'
check "that build is another one" bash -c '! cmp -s sum moved'
check "its runs go into the same store" pmodel run -q -o sum.pmdb -m r12000 -P N=24 -- ./moved '{N}'
line=$(grep -n 'assert(v' second/much/deeper/sum.cc)
check "the report shows the newest lines" bash -c "
    pmodel report -m r12000 --min-percent 0 -P N=16 sum.pmdb | grep -qF 'sum.cc:${line%%:*} '"
check "a size that one build measured is validated with the other" bash -c "
    pmodel run -q -o sum.pmdb -m r12000 -P N=32,40,48 -- ./sum '{N}' && pmodel fit sum.pmdb &&
    pmodel validate -q -s sum.pmdb -P N=64 -- ./moved '{N}'"
runs=$(sqlite3 sum.pmdb 'select count(*) from run')

# differs NAME COMMAND: its runs are refused.
differs() {
    variant other "$2" || fail "$1" "it does not build"
    expect_error "$1" 2 'holds runs of another build of sum, whose code differs' \
        pmodel run -q -o sum.pmdb -P N=99 -- ./other '{N}'
}
differs "another constant in the data is another build" 's/0\.75/0.5/'
differs "another constant in the code is another build" 's/return 19/return 17/'
differs "another number of iterations is another build" 's/i < n;/i < n - 1;/'
differs "cases of a switch that have changed places are another build" \
    's/case 3: return n;/case 3: return n * n;/; s/case 4: return n \* n;/case 4: return n;/'
differs "another text is another build" 's/"two"/"six"/'
differs "another routine that is called is another build" 's/puts("two")/perror("two")/'
variant other 's/sum += v/sum += 2 * v/'
expect_error "validate refuses another build too" 2 'models of another build' \
    pmodel validate -q -s sum.pmdb -P N=64 -- ./other '{N}'
g++ -O2 -g -fno-tree-vectorize -o plain "$PWD/first/sum.cc"
expect_error "the same code with less known about it is said to be that" 2 \
    'of the same code with other debug information or metadata' \
    pmodel run -q -o sum.pmdb -P N=99 -- ./plain '{N}'
expect_error "another program is said to be one" 2 'holds runs of sum, and gzip is another program' \
    pmodel run -q -o sum.pmdb --exe /bin/gzip -P N=9 -- /bin/gzip -'{N}' -c first/sum.cc
check "nothing of that is in the store" \
    test "$(sqlite3 sum.pmdb 'select count(*) from run')" = "$runs"

cat >first/lines.f90 <<'END'
program lines
    implicit none
    integer :: n, i
    real(8) :: total
    real(8), allocatable :: u(:)
    character(20) :: text
    call get_command_argument(1, text)
    read (text, *) n
    allocate (u(n))
    u = 1
    total = 0
    do i = 1, n
        total = total + 0.5d0*u(i)
    end do
    write (*, *) total
end program
END
sed '1i ! a comment' first/lines.f90 >second/lines.f90
for folder in first second; do
    (cd $folder && gfortran -O2 -g $(pmodel flags) -o lines lines.f90)
    check "Fortran of the folder $folder goes into one store" \
        pmodel run -q -o fortran.pmdb -P N=${#folder} -- $folder/lines '{N}'
done
