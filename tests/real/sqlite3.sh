# sqlite3, as Debian installs it: a script of statements over N rows. The engine is a shared library,
# which is not instrumented: what is covered is the shell that reads, escapes and formats.
# time limit: 600 s
. "$TOP/tests/lib.sh"
. "$TOP/tests/real/real.bash"

make_script() { # ROWS
    echo 'create table item (id integer primary key, name text, price real);'
    echo 'begin;'
    awk -v n="$1" 'BEGIN {
        for (i = 1; i <= n; i++)
            printf "insert into item values (%d, \047it\047\047em %d\047, %.2f);\n", i, i * 7919 % 1009, i * 37 % 1000 / 10
    }'
    printf '%s\n' 'commit;' 'create index by_name on item (name);' '.mode column' \
        'select name, count(*), sum(price) from item group by name order by 3 desc limit 20;' \
        '.mode csv' 'select * from item where price > 50;' '.mode json' 'select * from item;'
}
for size in 100 200 300 400 600 800 3200; do
    make_script $size >script.$size
done
real_program sqlite3 "$(command -v sqlite3)" 100,200,300,400,600,800 3200 \
    sqlite3 :memory: '.read {PWD}/script.{N}'
