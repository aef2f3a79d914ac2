# sqlite3, as Debian installs it: a script of statements over N rows. The engine is a shared library,
# which is not instrumented: what is covered is the shell that reads, escapes and formats.
# time limit: 600 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/real.bash"

for size in 100 200 300 400 600 800 3200; do
    generate_statements $size >script.$size
done
real_program sqlite3 "$(command -v sqlite3)" 100,200,300,400,600,800 3200 \
    sqlite3 :memory: '.read {PWD}/script.{N}'

same_behaviour sqlite3 whole
real_coverage sqlite3 short
