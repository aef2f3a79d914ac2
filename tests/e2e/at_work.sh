# What a command is at, on a terminal, and Ctrl-C there: it ends at once, the store stays whole, no half of a file is left.
. "$TOP/tests/lib.sh"

cp "$TOP/bench/apps/heat/heat.c" .
check "the program builds" gcc -O2 -g $(pmodel flags) -o heat heat.c -lm
check "it is measured" sh -c "pmodel run -q -o heat.pmdb -m r12000 -P N=10:20:2 -- ./heat '{N}' 2 >measured"
check "models" sh -c "pmodel fit heat.pmdb >fitted"
sizes=$(seq -s , 1 400)

# on_a_terminal KEYS SHOWN COMMAND...: waits for SHOWN, or for nothing if it is empty, then presses Ctrl-C if KEYS is `ctrl-c`. What
# the command showed goes to `shown`; the status is its own.
cat >terminal.py <<'EOF'
import os, pty, select, signal, sys, time
keys, wanted, command = sys.argv[1], sys.argv[2].encode(), sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
shown, pressed, begun = b"", keys != "ctrl-c", time.monotonic()
while True:
    if select.select([terminal], [], [], 0.02)[0]:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    if not pressed and wanted in shown and (wanted or time.monotonic() - begun > float(os.environ.get("AFTER", "0"))):
        os.write(terminal, b"\x03")
        pressed = True
open("shown", "wb").write(shown)
status = os.waitpid(child, 0)[1]
sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
EOF
on_a_terminal() { python3 terminal.py "$@"; }

# interrupted WHAT SHOWN COMMAND...
interrupted() {
    local what=$1 status=0
    shift
    on_a_terminal ctrl-c "$@" || status=$?
    if [ $status = 130 ]; then pass "$what is ended by Ctrl-C"; else fail "$what is ended by Ctrl-C" "status $status: $(tail -c 300 shown)"; fi
}
interrupted "a report of many sizes, once it says what it predicts," 'predicting N=' pmodel report --as scaling heat.pmdb -m r12000 -P "N=$sizes"
interrupted "a page, once it says how far it is," '%' pmodel report --as page heat.pmdb -m r12000 -P N=50 --sizes 400 -o page.html
check "and leaves no half of a file" test -z "$(ls | grep page)"
check "a page that was there stays" sh -c 'echo before >page.html'
interrupted "a new page" '%' pmodel report --as page heat.pmdb -m r12000 -P N=50 --sizes 400 -o page.html
check "as it was" test "$(cat page.html)" = before

# The models of a store, interrupted at any moment: it has the old ones or the new ones, and is whole.
pmodel report heat.pmdb -m r12000 -P N=50 --format csv >expected.csv 2>errors
for after in 0 0.01 0.02 0.04 0.06 0.08 0.1 0.15 0.2 0.3; do
    cp heat.pmdb copy.pmdb
    AFTER=$after on_a_terminal ctrl-c '' pmodel fit copy.pmdb
    [ "$(sqlite3 copy.pmdb 'PRAGMA integrity_check')" = ok ] || echo "$after s: $(sqlite3 copy.pmdb 'PRAGMA integrity_check')"
    pmodel report copy.pmdb -m r12000 -P N=50 --format csv 2>errors | cmp - expected.csv
done >wrong 2>&1
check "fit leaves the store whole whenever it is interrupted" sh -c 'cat wrong; ! [ -s wrong ]'

status=0
on_a_terminal - '' pmodel report heat.pmdb -m r12000 -P N=50 || status=$?
check "what is not interrupted ends as always" test $status = 0
pmodel report --as scaling heat.pmdb -m r12000 -P N=10:60 >out 2>errors
check "without a terminal nothing is said" sh -c '! grep predicting errors'
