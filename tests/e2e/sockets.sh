# `pmodel run --sockets`: the traffic on sockets while control is inside named routines of a library that is not instrumented, in both
# directions, by thread and call; beside the program's own formula, and what strace sees. What is not named is not counted.
. "$TOP/tests/lib.sh"

gcc -g -O1 -shared -fPIC -Wl,-soname,libmessages.so -o libmessages.so "$TOP/tests/sockets/messages.c" &&
    gcc -g -O1 -fno-inline -o talk "$TOP/tests/sockets/talk.c" -L. -lmessages -Wl,-rpath,"$PWD" -pthread || fail "the program builds"

check "runs" pmodel run -q --no-memory -o talk.pmdb --sockets 'message_send,message_receive' -P N=5,10,20,50,100 -- ./talk '{N}'

# moved SIZE: a line "routine callee sent received" for each call.
moved() {
    pmodel show --as communication -P "N=$1" --format json talk.pmdb | jq -r '.events[] | [(.path | gsub(":[0-9]+"; "")), .bytes_sent, .bytes_received] | @tsv' |
        sort
}
for N in 5 100; do
    messages=$((5 * N * (N + 1)))
    printf '%s\t%s\t%s\n' \
        "main > ask > message_receive" 0 $((7 * N)) "main > ask > message_send" $messages 0 \
        "main > through > message_receive" 0 33 "main > through > message_send" 33 0 \
        "serve > message_receive" 0 $messages "serve > message_send" $((7 * N)) 0 >expected
    moved "$N" >ours
    check "N=$N: bytes of each call are the formula's" diff expected ours
done
check "each thread has its own" test "$(sqlite3 talk.pmdb 'SELECT count(DISTINCT thread) FROM socket_traffic')" = 2
check "sockets have addresses" test "$(pmodel show --as communication -P N=100 --format json talk.pmdb |
    jq '[.events[] | select(.operation == "socket" and (.partner | test("^127.0.0.1:[0-9]+ to 127.0.0.1:[0-9]+$")))] | length')" = 4
check "a pair has none" test "$(pmodel show --as communication -P N=100 --format json talk.pmdb | jq '[.events[] | select(.partner == "unix")] | length')" = 2

# What goes out on TCP is counted, or is the 50 bytes of the routine that is not named.
strace -ff -yy -o trace -e trace=write,writev,sendto,sendmsg,sendmmsg ./talk 100 >/dev/null
cat trace.* | grep 'TCP:\[' >sends
seen=$(awk '/sendmmsg/ { match($0, /msg_len=[0-9]+/); n += substr($0, RSTART + 8, RLENGTH - 8); next } { n += $NF } END { print n }' sends)
ours=$(sqlite3 talk.pmdb "SELECT sum(bytes_sent) FROM socket_traffic t JOIN socket s ON s.run = t.run AND s.number = t.socket
    JOIN run ON run.id = t.run WHERE run.parameters = 'N=100' AND s.text LIKE '127%'")
check "strace sees as much go out" test "$seen" = $((ours + 50))
transfers=$(sqlite3 talk.pmdb "SELECT sum(sends) FROM socket_traffic t JOIN socket s ON s.run = t.run AND s.number = t.socket
    JOIN run ON run.id = t.run WHERE run.parameters = 'N=100' AND s.text LIKE '127%'")
check "and as often" test "$(wc -l <sends)" = $((transfers + 1))

printf 'message_*  # all of them\n' >names
check "names come from a file, as patterns" pmodel run -q --no-memory -o file.pmdb --sockets ./names -P N=5 -- ./talk '{N}'
total='SELECT sum(bytes_sent), sum(bytes_received) FROM socket_traffic t JOIN run ON run.id = t.run WHERE run.parameters'
check "and count the same" test "$(sqlite3 file.pmdb "$total = 'N=5'")" = "$(sqlite3 talk.pmdb "$total = 'N=5'")"
check "other intervals do not count" pmodel run -q --no-memory -o mixed.pmdb --sockets message_send --interval message_receive -P N=5 -- \
    ./talk '{N}'
check "(only what is sent does)" test "$(sqlite3 mixed.pmdb "$total = 'N=5'")" = '218|0'
pmodel run -q --no-memory -o plain.pmdb --interval message_send -P N=5 -- ./talk '{N}' >/dev/null
check "nothing is counted without it" test "$(sqlite3 plain.pmdb 'SELECT count(*) FROM socket')" = 0
check "other commands take such a store" pmodel fit talk.pmdb
expect_error "a routine that is not called is an error" 2 'the program calls no routine of this name' \
    pmodel run -q --no-memory -o none.pmdb --sockets message_sent -P N=5 -- ./talk '{N}'

gcc -g -O1 -o forked "$TOP/tests/sockets/forked.c" -L. -lmessages -Wl,-rpath,"$PWD" || fail "another program builds"
check "a child counts from its fork on" pmodel run -q --no-memory -o forked.pmdb --sockets 'message_*' -- ./forked
check "(each process has its own)" test "$(sqlite3 forked.pmdb 'SELECT process, sum(bytes_sent), sum(bytes_received) FROM socket_traffic
    GROUP BY 1' | tr '\n' ' ')" = '0|511|14 1|3|500 '
check "as a job of a launcher, too" pmodel run -q --no-memory -j 2 -o job.pmdb --sockets 'message_send,message_receive' -P N=5,100 -- \
    ./talk '{N}'
check "(counts the same)" test "$(sqlite3 job.pmdb "$total = 'N=100'")" = "$(sqlite3 talk.pmdb "$total = 'N=100'")"

gcc -g -O2 -o tail "$TOP/tests/sockets/tail.c" -L. -lmessages -Wl,-rpath,"$PWD" || fail "a program with jumps builds"
check "calls that are jumps count" pmodel run -q --no-memory -o tail.pmdb --sockets 'message_*' -- ./tail
check "(of named routines only)" test "$(sqlite3 tail.pmdb 'SELECT bytes_sent FROM socket_traffic ORDER BY 1' | tr '\n' ' ')" = '0 1 20 '

# Names of C++ as the linker has them, and as people do.
cat >net.cc <<'CC'
#include <sys/socket.h>
#include <unistd.h>
namespace net {
__attribute__((noinline)) void say(int file, const char *bytes, long n) {
    for (long i = 0; i < n; i++)
        if (write(file, bytes, 4) != 4)
            _exit(1);
}
}
int main() {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 1;
    net::say(pair[0], "four", 3);
    return 0;
}
CC
g++ -g -O1 -o net net.cc || fail "a program in C++ builds"
for name in _ZN3net3sayEiPKcl 'net::say*'; do
    check "$name is a name" pmodel run -q --no-memory -o "net.$name.pmdb" --sockets "$name" -- ./net
    check "(and counts)" test "$(sqlite3 "net.$name.pmdb" 'SELECT sum(bytes_sent) FROM socket_traffic')" = 12
done
nothing='nothing moved on a socket in calls of the routines that --sockets names'
pmodel run --no-memory -o accept.pmdb --sockets accept -P N=5 -- ./talk '{N}' >accept.out 2>&1
check "that nothing was counted is said" grep -q "$nothing" accept.out
check "(and only then)" sh -c "! pmodel run --no-memory -o again.pmdb --sockets message_send -P N=5 -- ./talk '{N}' 2>&1 | grep '$nothing'"
check "and in the run's notes" test "$(sqlite3 accept.pmdb "SELECT count(*) FROM run WHERE notes LIKE '%$nothing%'")" = 1
