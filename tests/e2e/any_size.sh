# time limit: 600 s
# Every command that takes sizes, at sizes from 1 to 1e18, in the plain and in the sanitized build: a bound on the processor's
# time, no crash, no figure that is no number. Commands, sizes and stores go round at different paces: each command meets
# several sizes and all stores. The limit of time is one on work that does not end, far from what any of these takes.
. "$TOP/tests/lib.sh"

cp "$TOP/bench/apps/heat/heat.c" "$TOP/bench/apps/fft/fft.c" "$TOP/tests/programs/trees.c" .
for program in heat fft trees; do
    check "$program builds" gcc -O2 -g $(pmodel flags) -o $program $program.c -lm
done
measure() { # PROGRAM SIZES [ARGUMENT]
    pmodel run -q -o "$1.pmdb" -m r12000,sapphire-rapids -P N="$2" -- "./$1" '{N}' ${3+"$3"} >/dev/null && pmodel fit "$1.pmdb" >/dev/null
}
check "heat is measured" measure heat 10:20:2 2
check "fft is measured" measure fft 32,64,128,256,512
check "trees is measured" measure trees 200:1000:200

sizes=(1 2 1e3 1e6 1e9 1e12 1e15 1e18)
stores=(heat fft trees)
commands=(
    "report -m sapphire-rapids"
    "report -m r12000 --format json"
    "report -m zen4 --time simple --format csv"
    "report -m sapphire-rapids --time signature"
    "report --fits -m r12000"
    "report --as tree -m sapphire-rapids"
    "report --as roofline -m zen4"
    "report --as convolution -m r12000"
    "report --as formulas"
    "report --as callgrind -m r12000"
    "report --as folded -m sapphire-rapids"
    "report --as scaling -m r12000 %,1000"
    "report --as page -m sapphire-rapids --sizes 2 -o page.html %,100"
    "report --as plot --what time -m r12000 --sizes 2 -o time.svg %,100"
    "report --as plot --what misses -m zen4 --sizes 2 -o misses.svg %,100"
    "report --as plot --what surface -m r12000 --sizes 2 -o surface.svg %,100"
    "report --as source -m r12000 SOURCE"
    "report --as loop -m sapphire-rapids LOOP"
    "query --cache 16K:4M"
    "query -m r12000 --format json"
    "query --hit-ratio 0.9"
    "query --cache 32K --hit-ratio 0.9 RANGE"
    "query --cache 32K --fits RANGE"
    "compare -m zen4,r12000"
    "diff -m r12000 STORE"
)

# The words of COMMAND for STORE at SIZE. `%` stands for it where a command wants several sizes, RANGE for one up to it.
words_of() { # COMMAND STORE SIZE
    local word words='' size="-P N=$3"
    for word in $1; do
        case $word in
        %*) size="-P N=$3${word#%}" && continue ;;
        RANGE) size="--range N=100,1000,$3" && continue ;;
        SOURCE) word=$2.c ;;
        LOOP) word=main ;;
        STORE) word=$2.pmdb ;;
        esac
        words+=" $word"
    done
    case $1 in
    *SOURCE | *LOOP) echo "${words% *} $size $2.pmdb ${words##* }" ;;
    *) echo "$words $size $2.pmdb" ;;
    esac
}
# ends_well PMODEL SECONDS COMMAND STORE SIZE: what is wrong with it, if anything.
ends_well() {
    local words status=0
    words=$(words_of "$3" "$4" "$5")
    rm -f page.html ./*.svg
    # shellcheck disable=SC2086 # several words
    (ulimit -t "$2"; "$1" $words >out 2>errors) 2>/dev/null || status=$?
    cat ./*.svg >>out 2>/dev/null
    # A question may have no answer for a program (a roofline without floating-point operations): a sentence then.
    [ $status = 0 ] || { [ $status = 2 ] && [ "$(wc -l <errors)" = 1 ]; } || echo "$words: status $status: $(grep -m 1 -E 'error|pmodel' errors)"
    grep -qiE '(^|[^a-z0-9_.])-?(nan|inf)([^a-z0-9_(]|$)' out && echo "$words: $(grep -m 1 -iE '(^|[^a-z0-9_.])-?(nan|inf)([^a-z0-9_(]|$)' out | head -c 200)"
}
# all_end_well PMODEL SECONDS TIMES
all_end_well() {
    local c k
    for ((c = 0; c < ${#commands[@]}; c++)); do
        for ((k = 0; k < $3; k++)); do
            ends_well "$1" "$2" "${commands[c]}" "${stores[(c + k) % 3]}" "${sizes[(3 * c + 5 * k) % 8]}"
        done
    done >wrong
    cat wrong
    ! [ -s wrong ]
}
check "every command ends well at sizes from 1 to 1e18" all_end_well pmodel 20 2
export ASAN_OPTIONS=detect_leaks=0
check "and does nothing that is not defined there" all_end_well "$BUILD/san/bin/pmodel" 100 1

for size in 1e20 0 -1 nan; do
    for command in "report -m r12000" "report --as scaling -m r12000" "query --hit-ratio 0.9" "compare -m r12000"; do
        status=0
        # shellcheck disable=SC2086 # several words
        (ulimit -t 20; pmodel $command -P N=$size heat.pmdb) >out 2>errors || status=$?
        [ $status = 2 ] && [ "$(wc -l <errors)" = 1 ] && ! [ -s out ] || echo "$command N=$size: status $status, $(head -c 300 errors)"
    done
done >wrong
check "what is no size is refused in one sentence" sh -c 'cat wrong; ! [ -s wrong ]'
