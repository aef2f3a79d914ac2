# `pmodel loops --schedule`: loops that are known to be hard for static analysers, against cycles that others measured; forms of
# the command; mistakes.
# shellcheck shell=bash
. "$TOP/tests/lib.sh"

# cycles MACHINE HEX: predicted cycles of an iteration.
cycles() {
    pmodel loops --schedule --format json -m "$1" --hex "$2" | jq '.loops[0].cycles'
}
# takes MACHINE LOW HIGH HEX
takes() {
    local found
    found=$(cycles "$1" "$4") && echo "$found cycles, not $2 to $3" &&
        awk -v c="$found" -v low="$2" -v high="$3" 'BEGIN { exit !(c >= low - 0.005 && c <= high + 0.005) }'
}

# ---- measured by uops.info and Agner Fog's tables
# add dword [rdi], 1: what is stored is loaded again; forwarding takes 4 to 5 cycles, the addition one.
check "a read-modify-write waits for its own store (Skylake)" takes skylake-sp 5 7 830701
check "a read-modify-write waits for its own store (Ice Lake)" takes icelake-sp 5 7 830701
# cmova reads two flags: 2 cycles; cmovz takes one.
check "cmova takes two operations (Skylake)" takes skylake-sp 2 2 480f47c3
check "cmovz takes one (Skylake)" takes skylake-sp 1 1 480f44c3
# Two loads a cycle, the stack pointer costs nothing.
check "pop: two a cycle (Skylake)" takes skylake-sp 2 2 58595a5b
check "push: one a cycle (Skylake)" takes skylake-sp 4 4 50515253
# addsd xmm0, xmm1 four times, each on the one before.
check "a sum of dependent additions (Skylake)" takes skylake-sp 16 16 f20f58c1f20f58c1f20f58c1f20f58c1
check "a sum of dependent additions (Ice Lake)" takes icelake-sp 16 16 f20f58c1f20f58c1f20f58c1f20f58c1
check "a sum of dependent additions (Zen 4)" takes zen4 12 12 f20f58c1f20f58c1f20f58c1f20f58c1
# inc rax; cmp rax, rcx; jne: two slots.
check "a comparison and its branch are one (Skylake)" takes skylake-sp 1 1 48ffc04839c875f8
slots() { pmodel loops --schedule --format json -m skylake-sp --hex 48ffc04839c875f8 | jq -e '.loops[0].slots == 2'; }
check "... and take one slot" slots
# xor eax, eax; add eax, ebx: what is zeroed waits for nothing.
check "zeroing breaks a chain (Skylake)" takes skylake-sp 0.5 0.5 31c001d8

# assembled LOW HIGH MACHINE FILE
assembled() {
    local found
    found=$(pmodel loops --schedule --format json -m "$3" --asm "$4" | jq '.loops[0].cycles') && echo "$found cycles, not $1 to $2" &&
        awk -v c="$found" -v low="$1" -v high="$2" 'BEGIN { exit !(c >= low - 0.005 && c <= high + 0.005) }'
}
# Intel's optimization manual and Agner Fog, on indexed addresses: the load parts from the multiplication, six slots in all.
cat >triad.s <<'END'
1:      vmovupd (%rsi,%rax), %ymm0
        vfmadd213pd (%rdx,%rax), %ymm1, %ymm0
        vmovupd %ymm0, (%rdi,%rax)
        add $32, %rax
        cmp %rcx, %rax
        jne 1b
END
check "triad of 256 bits in L1 (Skylake): six slots" assembled 1.5 1.5 skylake-sp triad.s
check "triad of 256 bits in L1 (Ice Lake): six slots" assembled 1.2 1.25 icelake-sp triad.s
# 4 cycles of one multiply-add after the other (uops.info).
cat >dot.s <<'END'
1:      vmovsd (%rsi,%rax), %xmm1
        vfmadd231sd (%rdi,%rax), %xmm1, %xmm0
        add $8, %rax
        cmp %rcx, %rax
        jne 1b
END
check "dot product with one sum (Skylake)" assembled 4 4 skylake-sp dot.s
check "dot product with one sum (Ice Lake)" assembled 4 4 icelake-sp dot.s
check "dot product with one sum (Zen 4)" assembled 4 4 zen4 dot.s
# The kernel of a matrix product: 12 multiply-adds of 256 bits at two a cycle (published peaks of Skylake, Ice Lake and Zen 4).
{
    echo '1: vmovupd (%rsi), %ymm12'
    echo 'vmovupd 32(%rsi), %ymm13; vmovupd 64(%rsi), %ymm14'
    for column in 0 1 2 3; do
        echo "vbroadcastsd $((8 * column))(%rdi), %ymm15"
        for row in 0 1 2; do echo "vfmadd231pd %ymm15, %ymm$((12 + row)), %ymm$((3 * column + row))"; done
    done
    echo 'add $96, %rsi; add $32, %rdi; cmp %rcx, %rsi; jne 1b'
} >product.s
for machine in skylake-sp icelake-sp zen4; do
    check "kernel of a matrix product at its peak ($machine)" assembled 6 6.3 "$machine" product.s
done

# ---- forms
printf '1:\n\taddsd %%xmm1, %%xmm0\n\tdec %%rcx\n\tjnz 1b\n' >sum.s
table_is_right() {
    pmodel loops --schedule -m icelake-sp --asm sum.s >table && cat table &&
        grep -q '4.00 *1.00 *c r *addsd' table && grep -q 'An iteration takes 4.00 cycles' table
}
check "a loop of an assembler file as a table, with its recurrence" table_is_right
adds_up() {
    pmodel loops --schedule --format json -m icelake-sp --asm sum.s |
        jq -e '.loops[0] | ([.causes[]] | add) as $sum | ($sum - .cycles | fabs) < 1e-6 and .cycles >= ([.bounds[]] | max) - 1e-9'
}
check "causes add up to the cycles, which are no less than the bounds" adds_up
in_order() { pmodel loops --schedule --format json -m itanium2 --asm sum.s | jq -e '.loops[0].cycles == .loops[0].modulo_cycles'; }
check "an in-order machine takes what the modulo schedule says" in_order
csv() { pmodel loops --schedule --format csv -m zen4 --asm sum.s | head -1 | grep -q '^label,name,key,source,address,hash,bytes'; }
check "CSV" csv

# ---- mistakes
expect_error "hexadecimal digits" 2 'takes bytes as hexadecimal digits' pmodel loops --schedule -m zen4 --hex 12g4
expect_error "half a byte" 2 'takes whole bytes' pmodel loops --schedule -m zen4 --hex 123
expect_error "no file" 2 'missing.s: cannot be read' pmodel loops --schedule -m zen4 --asm missing.s
expect_error "no machine" 2 'give one machine' pmodel loops --schedule --hex 90
expect_error "no loop is named" 2 'give a loop as reports name it, or --all' pmodel loops --schedule -m zen4 "$BUILD/bin/pmodel"
expect_error "two ways to give a loop" 2 '--asm and --hex exclude each other' pmodel loops --schedule -m zen4 --asm a --hex 90
