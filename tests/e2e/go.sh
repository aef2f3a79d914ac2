# The whole way in one command: `pmodel go` plans, runs, fits, compares with a size that was held out, reports and writes
# a page, and says of each step the command that does it alone.
. "$TOP/tests/lib.sh"

cp "$BUILD/apps/heat" heat
check "go is taken to its end" bash -c 'pmodel go -P N=16:48:4 --time 60s --to N=96 -- ./heat {N} >go.out 2>go.err'
for step in plan run fit validate 'report -m' 'report --as page'; do
    check "it prints the command of its step $step" grep -q "^\$ pmodel $step" go.out
done
check "it says which machine it took" grep -q 'was not probed; the nearest one that is described is' go.out
check "it says how far off the models are" grep -qi 'held out\|error\|off' go.out
check "it reports the size that was asked for" grep -q '^heat  N=96  on ' go.out
check "the page is there" grep -q '<html' heat.html
check "the store has runs and models" pmodel report --as formulas heat.pmdb
# The held-out size is in no model.
held_out=$(sed -n 's/^.*; then N=\([0-9]*\), to see how far off.*/\1/p' go.out)
check "the largest size is held out" bash -c "[ '$held_out' ] && ! pmodel show heat.pmdb --format csv | grep -q 'N=$held_out\\b'"
check "and runs in a store of its own" bash -c "pmodel show heat.held-out.pmdb --format csv | grep -q 'N=$held_out'"
# A printed step does by itself what it did on the way.
sed -n 's/^\$ \(pmodel report -m .*\)/\1/p' go.out >again.sh
check "a printed command can be repeated" bash -c 'bash again.sh >again.out && grep -q "^heat  N=96  on " again.out'
expect_error "no command" 2 'give a command' pmodel go
expect_error "no size" 2 'has a \{NAME\}' pmodel go -- ./heat 64
