# Executions of every basic block and jumps along every edge equal callgrind's in gzip and sqlite3, as Debian
# installs them, and in the library in which sqlite3 works (e2e/counts.sh: the example applications).
# time limit: 900 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/truth/tools.sh"
. "$TOP/tests/truth/counts.bash"
. "$TOP/tests/real/programs.bash"

truth_tool block_counts || {
    fail "the tool that reads stores builds"
    exit
}

generate_text 500000 >text
check_counts gzip "counters records" /usr/bin/gzip -9 -c text
/usr/bin/gzip -c text >text.gz
check_counts gunzip counters /usr/bin/gzip -d -c text.gz

generate_statements 2000 >statements
check_counts sqlite3 "counters records" /usr/bin/sqlite3 :memory: '.read statements'
library=$(ldd /usr/bin/sqlite3 | awk '/libsqlite3/ { print $3 }')
library=$(realpath -e "$library") check_counts libsqlite3 "counters records" \
    /usr/bin/sqlite3 :memory: '.read statements'
