# Programs that nobody here develops, as Debian installs them, each with input of two sizes:
# `. "$TOP/tests/real/programs.bash"`. `choose_program NAME SCALE` makes the input in the current folder
# (SCALE: short, or whole for `make check-real`) and sets
#
#   program      the file to instrument
#   libraries    an array: names of its libraries in which it does its work; without them not much of it
#                is its own
#   recorded     an array: those of these whose accesses are recorded, too
#   user         who runs it, where root may not; else empty
#   command      an array: what to run, in a folder of its own, which it may write to
# shellcheck shell=bash disable=SC2034 # the variables are for who calls
. "$(dirname "${BASH_SOURCE[0]}")/everyday.bash"
real_programs="gzip xz bzip2 sqlite3 python3 perl mawk cc1 f951 fasttree"

# What is random or depends on the machine in these programs is fixed.
export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=3 LC_ALL=C.UTF-8

# generate_text BYTES: text of words of several frequencies, the same every time.
generate_text() {
    awk -v size="$1" 'BEGIN {
        srand(7)
        for (i = 0; i < 2000; i++) {
            word[i] = ""
            for (k = 1 + int(rand() * 9); k > 0; k--)
                word[i] = word[i] sprintf("%c", 97 + int(26 * rand() * rand()))
        }
        while (written < size) {
            line = word[int(2000 * rand() ^ 3)]
            for (k = 4 + int(rand() * 8); k > 0; k--)
                line = line " " word[int(2000 * rand() ^ 3)]
            printf "%s", substr(line "\n", 1, size - written)
            written += length(line) + 1
        }
    }'
}

# generate_statements ROWS: SQL with an insertion for each row, and what sqlite3's shell prints of them.
# Prices are below 10 and multiples of 1/4: valgrind computes with 64 bits where sqlite3 uses 80, so that others would be
# rounded another way there.
generate_statements() {
    echo 'create table item (id integer primary key, name text, price real);'
    echo 'begin;'
    awk -v n="$1" 'BEGIN {
        for (i = 1; i <= n; i++)
            printf "insert into item values (%d, \047it\047\047em %d\047, %.2f);\n", i, i * 7919 % 1009, i * 37 % 40 / 4
    }'
    printf '%s\n' 'commit;' 'create index by_name on item (name);' '.mode column' \
        'select name, count(*), max(price) from item group by name order by 2, 3 desc limit 20;' \
        '.mode csv' 'select * from item where price > 5;' '.mode json' 'select * from item;'
}

# generate_sequences NUMBER LENGTH: sequences of a family, in FASTA format.
generate_sequences() {
    awk -v n="$1" -v bases="$2" 'BEGIN {
        srand(5)
        for (s = 1; s <= n; s++) {
            printf ">s%d\n", s
            parent = 1 + int(rand() * (s - 1))
            for (i = 1; i <= bases; i++) {
                base[s, i] = s > 1 && rand() > 0.08 ? base[parent, i] : int(4 * rand())
                printf "%s", substr("ACGT", 1 + base[s, i], 1)
            }
            print ""
        }
    }'
}

# Hashes, regular expressions, sorting and arithmetic over N items.
perl_script() {
    cat <<'P'
use strict;
use warnings;
my ($n) = @ARGV;
my ($state, %count, @list) = (1);
for my $i (1 .. $n) {
    $state = ($state * 1103515245 + 12345) % 2147483648;
    push @list, sprintf("%s-%06d", chr(97 + $state % 26), $state % 100000);
    $count{substr $list[-1], 0, 3}++;
}
my @sorted = sort { $a cmp $b } @list;
my $matched = grep { /^[a-m]-0*([1-9]\d*)5$/ && $1 > 10 } @sorted;
my $text = join ',', @sorted;
(my $other = $text) =~ s/(\d)-?/$1 % 2 ? "x" : "yy"/ge;
my $check = 0;
$check = ($check * 31 + ord) % 1000003 for split //, $other;
eval { die { code => scalar @sorted } };
printf "%d %d %d %s\n", scalar keys %count, $matched, $check, $@->{code};
P
}

# Sieves primes up to n, counts words and formats numbers.
awk_script() {
    cat <<'A'
BEGIN {
    for (i = 2; i <= n; i++)
        if (!(i in composite)) {
            primes++
            for (k = i * i; k <= n; k += i) composite[k]
        }
    for (i = 1; i <= n; i++) {
        line = sprintf("%d %.3f %s", i, sin(i) * sqrt(i), substr("abcdefghij", i % 10 + 1, 3))
        fields = split(line, part, / /)
        seen[part[fields]]++
        if (line ~ /[0-9]+\.[0-4][0-9]* [a-d]/) matched++
        gsub(/1/, "one", line)
        letters += length(line)
    }
    for (word in seen) words++
    print primes, matched, letters, words
}
A
}

# Python's own tests, named as unittest names them; a line for each, without the time it took.
python_script() {
    cat <<'P'
import sys, unittest
import test.support
test.support.verbose = 0
class Result(unittest.TestResult):
    def say(self, test, what):
        print(test.id(), what, flush=True)
    def addSuccess(self, test):
        super().addSuccess(test)
        self.say(test, "passes")
    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.say(test, "fails")
    def addError(self, test, error):
        super().addError(test, error)
        self.say(test, "fails with " + error[0].__name__)
    def addSkip(self, test, why):
        super().addSkip(test, why)
        self.say(test, "is skipped")
result = Result()
for name in sys.argv[1:]:
    unittest.defaultTestLoader.loadTestsFromName("test." + name).run(result)
print(result.testsRun, "tests,", len(result.failures) + len(result.errors), "fail")
sys.exit(result.testsRun == 0)
P
}

# Generators, deep recursion, text, threads, signals, child processes, extension modules. With memory records
# these take 40 times as long as plainly. The short ones are those that execute the same under valgrind: tests of
# threads wait by asking again and again, so that how much they execute depends on the time it takes. And they
# are those that do not do the same thousands of times: test_struct's integers of all sizes take longer than all else.
python_tests_short="test_generators.FinalizationTest test_generators.GeneratorTest test_generators.ExceptionTest
    test_generators.GeneratorThrowTest test_generators.YieldFromTests test_struct.UnpackIteratorTest
    test_struct.StructTest.test_705836 test_struct.StructTest.test_new_features test_struct.StructTest.test_nN_code
    test_struct.StructTest.test_p_code test_struct.StructTest.test_pack_into test_struct.StructTest.test_unpack_from
    test_struct.StructTest.test_struct_cleans_up_at_runtime_shutdown test_json.test_scanstring test_json.test_decode"
python_tests_whole="test_generators test_coroutines test_contextlib test_struct test_re.ReTests test_mmap
    test_json.test_scanstring test_json.test_decode test_json.test_dump
    test_exceptions.ExceptionTests.testInfiniteRecursion test_exceptions.ExceptionTests.test_recursion_normalizing_exception
    test_thread test_threading.LockTests test_asyncio.test_tasks.RunCoroutineThreadsafeTests
    test_signal.PosixTests test_signal.WakeupSignalTests test_faulthandler.FaultHandlerTests.test_sigsegv
    test_fork1 test_posix.TestPosixSpawn test_subprocess.POSIXProcessTestCase.test_preexec
    test_subprocess.POSIXProcessTestCase.test_restore_signals"

# compilation COMPILER SUFFIX SCALE: all example applications of that language, as assembler.
compilation() {
    local compiler=$1 suffix=$2 scale=$3 flags='-O2 -g -march=x86-64-v3' app sources=()
    for app in "$TOP"/bench/apps/*/*."$suffix"; do
        # Kernels are built for an extent and a kernel, and programs of MPI by its own command.
        [[ $app == */kernels/* || $app == *_mpi/* ]] || sources+=("$app")
    done
    if [ "$scale" = short ]; then
        flags='-O1 -g'
        sources=("${sources[0]}")
    fi
    # shellcheck disable=SC2206 # the flags are words
    command=("$compiler" $flags -S "${sources[@]}")
}

# packer PROGRAM SUFFIX OPTIONS: packs files, unpacks, and says no to a damaged one. Programs are named by their
# path, which valgrind makes of any name.
packer() {
    cat <<S
set -u
run() { $1 "\$@"; echo "\$1: status \$?" >&2; }
split -n 40 "\$1" part
touch -d 2020-01-01 part*
run -$3 part*
cksum part*
run -d part*
cat part* | cmp - "\$1"
run -c -1 <"\$1" | tee packed.$2 | cksum
head -c 5000 packed.$2 >damaged.$2
run -t damaged.$2 packed.$2
run -d packed.$2
cmp packed "\$1"
S
}

choose_program() {
    local name=$1 scale=$2 here=$PWD
    local choose=choose_${name//[^a-zA-Z0-9]/_}
    libraries=()
    recorded=(all)
    user=
    case $name in
    gzip | xz | bzip2)
        local size=1000000 level=9
        [ "$scale" = whole ] || size=60000 level=2
        program=$(realpath -e "/usr/bin/$name")
        generate_text "$size" >text
        case $name in
        gzip) packer "$program" gz ${level}v ;;
        xz)
            libraries=(liblzma)
            packer "$program" xz $level # with -v it tells the time
            ;;
        bzip2)
            libraries=(libbz2)
            packer "$program" bz2 ${level}v
            ;;
        esac >pack.sh
        command=(sh "$here/pack.sh" "$here/text")
        ;;
    sqlite3)
        program=$(realpath -e "/usr/bin/sqlite3")
        libraries=(libsqlite3)
        generate_statements "$([ "$scale" = short ] && echo 300 || echo 4000)" >statements
        command=("$program" database ".read $here/statements")
        ;;
    python3)
        program=$(realpath -e "/usr/bin/python3")
        python_script >tests.py
        local tests="python_tests_$scale"
        # shellcheck disable=SC2206 # names
        command=("$program" "$here/tests.py" ${!tests})
        ;;
    perl)
        program=$(realpath -e "/usr/bin/perl")
        perl_script >script.pl
        command=("$program" "$here/script.pl" "$([ "$scale" = short ] && echo 1000 || echo 10000)")
        ;;
    mawk)
        program=$(realpath -e "/usr/bin/mawk")
        awk_script >script.awk
        command=("$program" -v "n=$([ "$scale" = short ] && echo 1500 || echo 15000)" -f "$here/script.awk")
        ;;
    cc1)
        program=$(realpath -e "$(gcc-12 -print-prog-name=cc1)")
        compilation gcc-12 c "$scale"
        ;;
    f951)
        program=$(realpath -e "$(gfortran-12 -print-prog-name=f951)")
        compilation gfortran-12 f90 "$scale"
        ;;
    fasttree)
        program=$(realpath -e "/usr/bin/fasttreeMP")
        # shellcheck disable=SC2046 # two numbers
        generate_sequences $([ "$scale" = short ] && echo 25 150 || echo 60 300) >family
        command=("$program" -nt -quiet -nopr "$here/family")
        ;;
    *) "$choose" ;;
    esac
    [ -n "$program" ]
}
