# Which runs `pmodel run` makes: lists, ranges, formulas, conditions, substitution.
. "$TOP/tests/lib.sh"

# expect_plan NAME EXPECTED ARGUMENTS...: what --dry-run prints.
expect_plan() {
    local name=$1 expected=$2 plan
    shift 2
    plan=$(pmodel run --dry-run "$@" 2>&1)
    if [ "$plan" = "$expected" ]; then pass "$name"; else fail "$name" "printed: $plan"; fi
}

expect_plan "a list of sizes gives one run each, in order" \
    $'N=24: ./a 24\nN=40: ./a 40\nN=32: ./a 32' -P N=24,40,32 -- ./a '{N}'
expect_plan "a range has both ends" $'N=8: ./a 8\nN=12: ./a 12\nN=16: ./a 16' -P N=8:16:4 -- ./a '{N}'
expect_plan "a fraction keeps its digits" 'T=0.1: ./a -t=0.1' -P T=0.1 -- ./a '-t={T}'
expect_plan "a formula follows its parameters" \
    $'M=7 N=24: ./a 24 7\nM=13 N=40: ./a 40 13' -P N=24,40 -P 'M=floor((N-1)/3)' -- ./a '{N}' '{M}'
expect_plan "a formula may stand before what it needs" \
    'K=9 M=8 N=24: ./a 9' -P 'K=M+1' -P 'M=N/3' -P N=24 -- ./a '{K}'
expect_plan "a condition admits sizes" $'N=4: ./a 4\nN=8: ./a 8' -P N=2:8 --where 'N%4==0' -- ./a '{N}'
expect_plan "two lists give their product" \
    $'A=1 B=3: ./a 1 3\nA=1 B=4: ./a 1 4\nA=2 B=3: ./a 2 3\nA=2 B=4: ./a 2 4' \
    -P A=1,2 -P B=3,4 -- ./a '{A}' '{B}'
expect_plan "points of two parameters are run as they are given" \
    $'A=16 B=1: ./a 16 1\nA=16 B=5: ./a 16 5\nA=32 B=0.5: ./a 32 0.5' \
    -P A,B=16:1,16:5,32:0.5 -- ./a '{A}' '{B}'
expect_plan "points go with another list as its product" \
    $'A=1 B=2 C=3: ./a\nA=1 B=2 C=4: ./a\nA=5 B=6 C=3: ./a\nA=5 B=6 C=4: ./a' \
    -P A,B=1:2,5:6 -P C=3,4 --unused A,B,C -- ./a
printf '# admissible\nNLON, MM\n16 1\n\n16,5 # the largest\r\n32\t10\n' >points.txt
expect_plan "a file of points has names in its first line" \
    $'MM=1 NLON=16: ./a 16 1\nMM=5 NLON=16: ./a 16 5\nMM=10 NLON=32: ./a 32 10' \
    --design points.txt -- ./a '{NLON}' '{MM}'
expect_plan "formulas and conditions hold for a file of points" 'K=11 MM=10 NLON=32: ./a 11' \
    --design points.txt -P 'K=floor((NLON-1)/3)+1' --where 'MM==K-1 && NLON>16' -- ./a '{K}'
expect_plan "a parameter may end where another parameter says" \
    $'MM=1 NLON=4: ./a\nMM=1 NLON=7: ./a\nMM=2 NLON=7: ./a' \
    -P NLON=4,7 -P MM=1:100 --where 'MM<=floor((NLON-1)/3)' --unused MM,NLON -- ./a
expect_plan "braces around other things stay" $'N=2: ./a \'{ x }\' \'{"k":{"j":1}}\'' \
    -P N=2 -- ./a '{ x }' '{"k":{"j":1}}'
expect_plan "doubled braces give the text itself" $'N=2: ./a {N}=' -P N=2 -- ./a '{{N}}='
expect_plan "without parameters there is one run" './a x' -- ./a x

expect_error "an unknown name in an argument is named" 2 '\{K\} is no parameter' \
    pmodel run --dry-run -P N=2 -- ./a '{K}'
expect_error "an unknown name in a formula is named" 2 'Q' \
    pmodel run --dry-run -P N=2 -P 'M=Q+1' -- ./a
expect_error "formulas in a circle are refused" 2 'A|B' \
    pmodel run --dry-run -P 'A=B+1' -P 'B=A+1' -- ./a
expect_error "a parameter given twice is refused" 2 'twice' pmodel run --dry-run -P N=2 -P N=3 -- ./a
expect_error "a size given twice is refused" 2 'twice' pmodel run --dry-run -P N=2,2 -- ./a
expect_error "a range that descends is said to" 2 'P N=10:5: the range 10:5 descends' \
    pmodel run --dry-run -P N=10:5 -- ./a '{N}'
expect_error "a step of nothing is said to be none" 2 'step of the range 5:10:0 must be above 0' \
    pmodel run --dry-run -P N=5:10:0 -- ./a '{N}'
expect_error "a range with a word in it is no formula" 2 '"5:x" is no range' \
    pmodel run --dry-run -P N=5:x -- ./a '{N}'
expect_error "a range of too many values is said to be one" 2 'more than 100000 values' \
    pmodel run --dry-run -P N=1:1e9 -- ./a '{N}'
expect_error "a condition that nothing meets is refused" 2 'no size' \
    pmodel run --dry-run -P N=1,2 --where 'N>5' -- ./a
expect_error "a mistake in a formula is shown with a caret" 2 '\^' \
    pmodel run --dry-run -P N=2 -P 'M=floor(N' -- ./a
expect_error "a name must be a name" 2 '9x' pmodel run --dry-run -P 9x=2 -- ./a
expect_error "no command is a mistake" 2 'command' pmodel run --dry-run -P N=2
expect_error "a point with too few values is refused" 2 'points of 2 values' \
    pmodel run --dry-run -P A,B=1:2,3 -- ./a
expect_error "a point with too many values is refused" 2 'points of 2 values' \
    pmodel run --dry-run -P A,B=1:2:3 -- ./a
expect_error "a point is no range" 2 'points of 2 values' pmodel run --dry-run -P A,B=1:x -- ./a
expect_error "a name that a point has twice is refused" 2 'A is given twice' \
    pmodel run --dry-run -P A,A=1:2 -- ./a
expect_error "a name of a point and of a list is refused" 2 'B is given twice' \
    pmodel run --dry-run -P B=1 -P A,B=1:2 -- ./a
expect_error "a point without a name is refused" 2 'no parameter' \
    pmodel run --dry-run -P A,=1:2 -- ./a
expect_error "a file of points that is not there is named" 2 'none\.txt' \
    pmodel run --dry-run --design none.txt -- ./a
printf 'N M\n1 2\n3\n' >short.txt
expect_error "a line with too few values is named" 2 'short\.txt: line 3: 1 values' \
    pmodel run --dry-run --design short.txt -- ./a
printf 'N\n1e\n' >word.txt
expect_error "a word in a file of points is shown" 2 'line 2: "1e" is no number' \
    pmodel run --dry-run --design word.txt -- ./a
printf 'N\n# none\n' >empty.txt
expect_error "a file without points is refused" 2 'no points' \
    pmodel run --dry-run --design empty.txt -- ./a
expect_error "a parameter that reaches no run is refused" 2 \
    'N several values, but no argument, --env, --input or --build has \{N\}' \
    pmodel run --dry-run -P N=100,200,400 -- ./a 100
expect_error "that its formula is not used either does not help" 2 'has \{N\}' \
    pmodel run --dry-run -P N=100,200,400 -P 'L=log2(N)' -- ./a 100
expect_error "quoted braces are no use of it" 2 'has \{N\}' \
    pmodel run --dry-run -P N=100,200 -- ./a '{{N}}'
expect_plan "a parameter may reach the run by its formula" $'L=3 N=8: ./a 3\nL=4 N=16: ./a 4' \
    -P N=8,16 -P 'L=log2(N)' -- ./a '{L}'
expect_plan "or by the environment" $'N=8: ./a\nN=16: ./a' -P N=8,16 --env 'SIZE={N}' -- ./a
printf 'size {N}\n' >template
expect_plan "or by an input file" $'N=8: ./a\nN=16: ./a' -P N=8,16 --input template:input -- ./a
expect_plan "or by the build" $'N=8: make N=8 && ./a\nN=16: make N=16 && ./a' -P N=8,16 \
    --build 'make N={N}' -- ./a
expect_plan "one value is a mere name" 'N=8: ./a 8' -P N=8 -- ./a 8
expect_plan "--unused allows it" $'N=8: ./a\nN=16: ./a' -P N=8,16 --unused N -- ./a
