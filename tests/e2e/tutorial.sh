# docs/tutorial.md: each command in it prints what the page says, misses fall by the factor that is predicted, as
# cachegrind counts them, and the program is faster.
# time limit: 900 s
. "$TOP/tests/lib.sh"

# The tree as a clone has it, but for `make`, which was done.
ln -s "$TOP/docs" docs
ln -s "$BUILD" build
python3 "$TOP/tests/documents/console.py" "$TOP/docs/tutorial.md" make | tee console
n=$(grep -c '^ok' console)
[ "$n" -ge 15 ] || fail "the tutorial has commands" "only $n were found"
cd tutorial || exit 1

# What the page says of the report, from JSON.
for store in slow fast; do
    pmodel report $store.pmdb -m icelake-sp -P N=400 --format json >$store.json
done
figure() { # STORE EXPRESSION: of the prediction at N=400
    jq "[.predictions[0].rows[] | $2] | add" "$1.json"
}
# within NAME VALUE LOW HIGH
within() {
    if awk -v value="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(value >= low && value <= high) }'; then
        pass "$1"
    else
        fail "$1" "it is $2, not between $3 and $4"
    fi
}
slow=$(figure slow '.self.misses.L1 // 0')
fast=$(figure fast '.self.misses.L1 // 0')
within "96 million misses before" "$slow" 92e6 101e6
within "8.2 million misses after" "$fast" 7.8e6 8.7e6
within "all time is in one loop" "$(figure slow 'select(.label == "multiply/3 row") | .self_share')" 0.95 1
check "the distance is 2*N, which fits up to N = 383" sh -c 'pmodel query --fits slow.pmdb -m icelake-sp --scope "multiply/3*" |
    grep -q " 383 .* 90  2\*N "'

# The truth about the misses of a cache of 48 KiB, 12 ways.
counted() { # PROGRAM
    valgrind --tool=cachegrind --cache-sim=yes --I1=32768,8,64 --D1=49152,12,64 --LL=1310720,20,64 \
        --cachegrind-out-file=/dev/null "./$1" 400 2>&1 | sed -n 's/.*D1  misses: *\([0-9,]*\).*/\1/p' | tr -d ,
}
before=$(counted covariance)
after=$(counted covariance_by_rows)
ratio=$(awk -v predicted="$(awk -v a="$slow" -v b="$fast" 'BEGIN { print a / b }')" -v before="$before" -v after="$after" \
    'BEGIN { print predicted / (before / after) }')
within "misses fall by the factor that is predicted" "$ratio" 0.93 1.07

seconds() { # PROGRAM: of the processor, the least of three
    for i in 1 2 3; do
        /usr/bin/time -f %U -a -o "times.$1" "./$1" 800 >"result.$1"
    done
    sort -n "times.$1" | head -n 1
}
within "the program is faster" "$(awk -v a="$(seconds covariance)" -v b="$(seconds covariance_by_rows)" 'BEGIN { print a / (b + 0.005) }')" 1.5 1000
check "the result is the same" cmp result.covariance result.covariance_by_rows
