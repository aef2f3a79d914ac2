# `pmodel loops --blocks`: basic blocks as bytes. What they take is not asserted, but what was run and why not, and what is predicted.
. "$TOP/tests/lib.sh"

printf '%s\n' '# a chain of two additions, a counter in memory, a division by zero, a branch, an address that is none' \
    '4883c0014883c001	15	chain	2' '488300014883c101	15' '31c931d248f7f1	15' '7500	15' '' '48a1efcdab8967452301	15' >blocks.tsv
check "blocks are run" sh -c 'pmodel loops --time --blocks blocks.tsv -m zen4 --format json >run.json'
check "each is run unrolled and in a loop, and those that are not have a reason" jq -e '.format == "pmodel-blocks" and .ran == 4
    and .refused.divides == 2 and .refused.branches == 2 and .refused.address == 2
    and ([.blocks[] | .line] == [2, 2, 3, 3, 4, 4, 5, 5, 7, 7])
    and ([.blocks[] | .form] | unique == ["loop", "unrolled"])
    and all(.blocks[] | select(.result == "ran"); .cycles > 0 and .cycles_low <= .cycles and .cycles <= .cycles_high)
    and all(.blocks[] | select(.result != "ran"); .cycles == null)' run.json
check "a chain takes a cycle for each of its links, wherever it is" jq -e '.blocks[0].predicted == 2 and .blocks[1].predicted == 2' run.json
check "what is predicted does not hang on whether it is measured" sh -c 'pmodel loops --schedule --blocks blocks.tsv -m zen4 --format json >predicted.json &&
    jq -e -n --slurpfile a run.json --slurpfile b predicted.json "[\$a[0].blocks[].predicted] == [\$b[0].blocks[].predicted]"'
check "a counter in memory is renamed where the core does that" jq -e '.blocks[2].predicted < 2' predicted.json
check "… and takes the way through memory where it does not" sh -c 'pmodel loops --schedule --blocks blocks.tsv -m zen4 --set renames_memory=false \
    --format json | jq -e ".blocks[2].predicted > 5"'
check "the table says why blocks were not run" sh -c 'pmodel loops --time --blocks blocks.tsv >table.txt &&
    grep -q "blocks: 5, each unrolled and in a loop; run: 4, .*branches: 2; addresses.*: 2; divides by zero.*: 2" table.txt'
check "it is said how much of a core there was" sh -c 'pmodel loops --time --blocks blocks.tsv 2>&1 >table.txt |
    grep -q "the host gave [01][.][0-9][0-9] of a core meanwhile"'
check "CSV has a line for each block and form" sh -c '[ "$(pmodel loops --time --blocks blocks.tsv --format csv | wc -l)" -eq 11 ]'

bad() { printf '%b\n' "$1" >bad.tsv; }
bad '90\t15\n4883c\t15'
expect_error "half a byte is refused" 2 "bad.tsv: line 2: a block is whole bytes" pmodel loops --time --blocks bad.tsv
bad '4883cz01\t15'
expect_error "what is no digit is refused" 2 'bad.tsv: line 1: .*not "z"' pmodel loops --time --blocks bad.tsv
bad '90'
expect_error "a block without a register is refused" 2 "bad.tsv: line 1: behind the block stands" pmodel loops --time --blocks bad.tsv
bad '90\t4'
expect_error "the stack pointer counts nothing" 2 "bad.tsv: line 1: .*not 4, the stack pointer" pmodel loops --time --blocks bad.tsv
bad '# nothing'
expect_error "a file without blocks is refused" 2 "there are no blocks" pmodel loops --time --blocks bad.tsv
expect_error "a file that is not there is refused" 2 "none.tsv: cannot be read" pmodel loops --time --blocks none.tsv
expect_error "a program beside blocks is refused" 2 "without a program" pmodel loops --time --blocks blocks.tsv /bin/true
expect_error "blocks need --time" 2 "blocks" pmodel loops --blocks blocks.tsv
