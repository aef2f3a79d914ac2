# KCachegrind, on a screen that nobody sees, opens what `pmodel report --as callgrind` writes.
# time limit: 300 s
. "$TOP/tests/lib.sh"

cp "$TOP/bench/apps/heat/heat.c" .
check "the program builds" gcc -O2 -g $(pmodel flags) -o heat heat.c -lm
check "it is measured, and has models" bash -c '
    pmodel run -q -o heat.pmdb -m r12000 -P N=12:32:4 -- ./heat {N} 2 && pmodel fit heat.pmdb'
check "a profile is written" pmodel report --as callgrind heat.pmdb -m r12000 -P N=80 -o callgrind.out.heat

# Its windows once it has loaded FILE, whose name and program are then in a title, and what it said in said.txt.
windows() {
    mkdir -m 700 runtime # Qt wants it for its user alone
    HOME=$TMP XDG_RUNTIME_DIR=$PWD/runtime dbus-run-session -- xvfb-run -a bash -c '
        kcachegrind "$1" >said.txt 2>&1 & program=$!
        for _ in {1..100}; do
            xwininfo -root -tree | grep -q "$1 \[heat\]" && break
            sleep 0.2
        done
        xwininfo -root -tree
        import -window root screen.png
        kill $program' - "$1"
}
windows ./callgrind.out.heat >windows.txt 2>windows.err
check "KCachegrind opens it" grep -q '"./callgrind.out.heat \[heat\]' windows.txt
check "and shows the routine in which the time is" grep -q 'Selected  "main"' said.txt
check "it does not complain of a line" bash -c '! grep -iE "error|garbage|invalid|unknown|wrong" said.txt'
