# Writes routines of random code for touch_blocks.c, as assembler:
#
#     awk -v seed=1 -v n=20 -f random_blocks.awk
#
# Their accesses go by registers that are changed on the way in all the ways in which code changes
# them: steps of 64, 32 and 16 bits, writes of parts, copies, exchanges, conditional moves, pushes
# and pops, calls.  Pointers are into the arena, at a fixed address, or into its copy ALIAS bytes
# above, from which an operation of 32 bits brings them back to the arena.  They begin in its middle
# and move by less than 100 bytes an operation, so that none leaves it; indices stay small.  Operands
# relative to the program counter are in the pool, which is the program's own.

function random(below) {
    state = (state * 16807) % 2147483647
    return int(state / 2147483647 * below)
}
function pick(list, parts) { return parts_of[split_once(list) "," random(count_of[list])] }
function split_once(list, parts, i) {
    if (!(list in count_of)) {
        count_of[list] = split(list, parts, " ")
        for (i = 1; i <= count_of[list]; i++) parts_of[list "," i - 1] = parts[i]
    }
    return list
}
function put(text) { print "\t" text }

# Register NUMBER with BITS.
function name(number, bits) {
    if (number >= 8) return "%r" number (bits == 64 ? "" : bits == 32 ? "d" : bits == 16 ? "w" : "b")
    return "%" parts_of[split_once(bits == 64 ? "rax rcx rdx rbx rsp rbp rsi rdi" \
        : bits == 32 ? "eax ecx edx ebx esp ebp esi edi" \
        : bits == 16 ? "ax cx dx bx sp bp si di" : "al cl dl bl spl bpl sil dil") "," number]
}
function pointer() { return pick("2 3 5 6 7 8 9 12 13") }
function index_register() { return pick("10 11") }
function data(bits) { return name(pick("0 1 15"), bits) }
function displacement() { return random(3) ? 8 * random(12) - 40 : random(200) - 100 }
function inside() { return 24576 + random(16384) }

function operand(kind) {
    kind = random(20)
    if (kind < 10) return displacement() "(" name(pointer(), 64) ")"
    if (kind < 14) return displacement() "(" name(pointer(), 64) "," name(index_register(), 64) "," pick("1 2 4 8") ")"
    if (kind < 16) return "pool+" random(4000) "(%rip)"
    if (kind < 17) return "arena+" inside() "(," name(index_register(), 64) "," pick("1 2 4 8") ")"
    if (kind < 18) return "arena+" inside()
    if (kind < 19) return 8 * random(8) - 64 "(%rsp)"
    return "%fs:" displacement() "(%r14" (random(2) ? ")" : "," name(index_register(), 64) ",2)")
}

function access(bits) {
    bits = pick("8 16 32 64 64")
    suffix = bits == 8 ? "b" : bits == 16 ? "w" : bits == 32 ? "l" : "q"
    kind = random(8)
    if (kind < 3) put("mov" suffix " " operand() ", " data(bits))
    else if (kind < 5) put("mov" suffix " " data(bits) ", " operand())
    else if (kind == 5) put("add" suffix " " data(bits) ", " operand())
    else if (kind == 6) put("inc" suffix " " operand())
    else if (random(2)) put("movups " operand() ", %xmm1")
    else put("movups %xmm1, " operand())
}

# The same pointer goes on.
function step(p, by) {
    p = random(8) ? pointer() : 14
    by = 1 + random(96)
    kind = random(6)
    if (kind == 0) put("add $" by ", " name(p, 64))
    else if (kind == 1) put("sub $" by ", " name(p, 64))
    else if (kind == 2) put("inc " name(p, 64))
    else if (kind == 3) put("dec " name(p, 64))
    else put("lea " by - 48 "(" name(p, 64) "), " name(p, 64))
}

# The pointer loses its upper half, or only its lowest part changes.
function step_of_32_bits(p, by) {
    p = pointer()
    by = 1 + random(96)
    if (random(2)) put("movabs $arena+" inside() "+" alias ", " name(p, 64))
    put("mov " displacement() "(" name(p, 64) "), %rax")
    kind = random(8)
    if (kind == 0) put("add $" by ", " name(p, 32))
    else if (kind == 1) put("sub $" by ", " name(p, 32))
    else if (kind == 2) put("inc " name(p, 32))
    else if (kind == 3) put("lea " by "(" name(p, 64) "), " name(p, 32))
    else if (kind == 4) put("mov " name(p, 32) ", " name(p, 32))
    else if (kind == 5) put("lea " by "(" name(p, 32) "), " name(p, 64))
    else if (kind == 6) put("add $" by ", " name(p, 16))
    else put("mov $" random(256) ", " name(p, 8))
    put("mov %rax, " displacement() "(" name(p, 64) ")")
}

# One pointer becomes another.
function copy(p, q) {
    p = pointer()
    q = pointer()
    kind = random(9)
    if (kind == 0) put("mov " name(p, 64) ", " name(q, 64))
    else if (kind == 1) put("lea " displacement() "(" name(p, 64) "), " name(q, 64))
    else if (kind == 2) put("lea 8(" name(p, 64) "," name(index_register(), 64) "), " name(q, 64))
    else if (kind == 3) put("xchg " name(p, 64) ", " name(q, 64))
    else if (kind == 4) put("cmovz " name(p, 64) ", " name(q, 64))
    else if (kind == 5) put("mov " name(p, 64) ", slot(%rip)\n\tmov slot(%rip), " name(q, 64))
    else if (kind == 6) put("push " name(p, 64) "\n\tpop " name(q, 64))
    else if (kind == 7) put("push " name(p, 64) "\n\tadd $8, " name(p, 64) "\n\tpop " name(p, 64))
    else put("xadd %r10, " name(p, 64) "\n\tmov $" random(40) ", %r10d")
}

function index_changes(i) {
    i = index_register()
    kind = random(6)
    if (kind == 0) put("add $2, " name(i, 64))
    else if (kind == 1) put("inc " name(i, 32))
    else if (kind == 2) put("and $31, " name(i, 32))
    else if (kind == 3) put("mov $" random(60) ", " name(i, 32))
    else if (kind == 4) put("mov $" random(60) ", " name(i, 8))
    else {
        put("neg " name(i, 64))
        put("mov -8(%rdx," name(i, 64) ",4), %rax")
        put("dec " name(i, 64))
        put("mov -8(%rdx," name(i, 64) ",4), %rax")
        put("neg " name(i, 64))
    }
}

function stack_moves() {
    kind = random(7)
    if (kind == 0) put("push %rax\n\tmov 8(%rsp), %rcx\n\tpop %rcx")
    else if (kind == 1) put("pushq " operand() "\n\tpopq " operand())
    else if (kind == 2) put("sub $24, %rsp\n\tmov %rax, 16(%rsp)\n\tmov 24(%rsp), %rcx\n\tadd $24, %rsp")
    else if (kind == 3) put("push %rbp\n\tmov %rsp, %rbp\n\tsub $32, %rsp\n\tmov %rax, -8(%rbp)\n\tmov -8(%rsp), %rcx\n\tleave")
    else if (kind == 4) put("lea -64(%rsp), %rsp\n\tmov %rax, (%rsp)\n\tlea 64(%rsp), %rsp\n\tmov -64(%rsp), %rcx")
    else if (kind == 5) put("push %rcx\n\tcall leaf_" random(3) "\n\tpop %rcx")
    else put("call leaf_" random(3))
}

function strings() {
    kind = random(4)
    if (kind == 0) put("movsq")
    else if (kind == 1) put("stosl")
    else if (kind == 2) put("lodsb")
    else put("mov $" random(6) ", %ecx\n\trep movsb")
}

function instruction(kind) {
    kind = random(100)
    if (kind < 55) access()
    else if (kind < 70) step()
    else if (kind < 76) step_of_32_bits()
    else if (kind < 84) copy()
    else if (kind < 89) index_changes()
    else if (kind < 95) stack_moves()
    else if (kind < 98) strings()
    else {
        put("test $1, %al\n\tjz 1f")
        access()
        step()
        print "1:"
    }
}

function begin(label) { print "\t.globl " label "\n\t.type " label ", @function\n" label ":" }
function end(label) { print "\tret\n\t.size " label ", . - " label }

function routine(r, i, p, length_of_routine) {
    begin("routine_" r)
    put("push %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15")
    put("mov %rsp, saved(%rip)\n\tlea own_stack+4096(%rip), %rsp")
    put("mov %edi, %r10d\n\tand $31, %r10d\n\tmov $" random(40) ", %r11d\n\tmov %edi, %eax\n\txor %ecx, %ecx\n\tmov %edi, %r15d\n\tpxor %xmm1, %xmm1")
    split("2 3 5 6 7 8 9 12 13", p, " ")
    for (i = 1; i <= 9; i++) {
        if (random(3)) put("mov $arena+" inside() ", " name(p[i], 32))
        else put("movabs $arena+" inside() "+" alias ", " name(p[i], 64))
        if (random(2)) put("lea (" name(p[i], 64) ",%r10,8), " name(p[i], 64))
    }
    put("mov $arena+" inside() ", %r14d\n\tsub %fs:0, %r14")
    length_of_routine = 5 + random(r % 4 ? 60 : 110)
    for (i = 0; i < length_of_routine; i++) instruction()
    put("mov saved(%rip), %rsp\n\tpop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbp\n\tpop %rbx")
    end("routine_" r)
}

BEGIN {
    state = 1000 + seed * 7919
    alias = "0x700000000" # as in touch_blocks.c
    print "\t.set arena, 0x3800000\n\t.text"
    for (r = 0; r < n; r++) routine(r)
    for (r = 0; r < 3; r++) {
        begin("leaf_" r)
        for (i = 0; i < 3 + 2 * r; i++) random(2) ? access() : step()
        end("leaf_" r)
    }
    print "\t.data\n\t.balign 8\n\t.globl routines, n_routines\nroutines:"
    for (r = 0; r < n; r++) put(".quad routine_" r)
    print "n_routines:\t.quad " n "\nsaved:\t.quad 0\nslot:\t.quad 0"
    print "\t.section .note.GNU-stack,\"\",@progbits"
}
