# mawk, as Debian installs it: an interpreter, on a script that sieves primes up to N, counts words
# and formats numbers.
# time limit: 600 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/real.bash"

cat >script.awk <<'A'
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
real_program mawk "$(command -v mawk)" 500,1000,1500,2000,3000,4000 16000 \
    mawk -v 'n={N}' -f '{PWD}/script.awk'
