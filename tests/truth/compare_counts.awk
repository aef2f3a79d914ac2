# Compares, instruction by instruction, the executions that callgrind counted with the counts of
# basic blocks, and conditional jumps with the counts of edges.
#
#   awk -v object=PATH [-v frames=FRAMES] -f compare_counts.awk DISASSEMBLY BLOCKS CALLGRIND
#
# DISASSEMBLY: objdump -d --no-show-raw-insn of the program; PATH: its file as callgrind names it.
# BLOCKS: what block_counts prints. CALLGRIND: out file with --dump-instr=yes --collect-jumps=yes
# --compress-pos=no --compress-strings=no. Addresses are compared as text, 0x and no leading zeros.
# FRAMES, for files without symbols: readelf --debug-dump=frames of the program.
#
# Named differences:
#   rep         a string instruction with a repeat prefix: callgrind counts n + 1 executions for n
#               iterations, a basic block has it once
#   uncounted   code of routines that pmodel does not count and names (_start and what the C
#               compiler's start files bring), of .init, .fini and of linkage tables
#   again       an unconditional jump of a routine to its own beginning: callgrind takes it for a call
#   nameless    where FRAMES are given: code that no symbol and no unwinding information tells of, which
#               are the start files again, once their symbols are removed
# Prints one line of totals, or a line for each difference; status 1 if there is one.

function hex(text,    value, i) {
    value = 0
    for (i = 3; i <= length(text); i++)
        value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
    return value
}

function differ(text) {
    if (n_differ++ < 20)
        print text
}

# Does the disassembler write one instruction for two, of which the first is fwait?
function is_pair(mnemonic) { return mnemonic ~ /^f(stcw|stsw|stenv|save|clex|init)$/ }

function has_frame(address,    value, f) {
    value = hex(address)
    for (f = 1; f <= n_frames; f++)
        if (value >= frame_from[f] && value < frame_to[f])
            return 1
    return 0
}

BEGIN {
    while (frames != "" && (getline line <frames) > 0)
        if (match(line, /pc=[0-9a-f]+\.\.[0-9a-f]+/)) {
            split(substr(line, RSTART + 3, RLENGTH - 3), bound, /\.\./)
            frame_from[++n_frames] = hex("0x" bound[1])
            frame_to[n_frames] = hex("0x" bound[2])
        }
}

FNR == 1 { file++ }

# The disassembly: all instructions in order.
file == 1 && /^Disassembly of section/ { section = substr($4, 1, length($4) - 1) }
file == 1 && /^ +[0-9a-f]+:\t/ {
    instruction[++n] = "0x" substr($1, 1, length($1) - 1)
    place[instruction[n]] = n
    section_of[n] = section
    text[n] = $2
}

# What pmodel counted.
file == 2 && $1 == "block" {
    first = place[$2]
    n_pairs = 0
    if (!first)
        differ("basic block " $2 " of " $5 " does not begin at an instruction")
    for (i = first; i < first + $3 - n_pairs; i++) {
        n_pairs += is_pair(text[i])
        if (i in counted)
            differ(instruction[i] " of " $5 " is in two basic blocks")
        counted[i] = $4
        last_of[$2] = i
        routine_of[i] = $5
    }
    n_blocks++
}
# A jump whose target is also its fall-through would be two edges between the same blocks.
file == 2 && $1 == "edge" { edge[last_of[$2], $3] += $4; edge_from[last_of[$2], $3] = last_of[$2] }
file == 2 && $1 == "edge" && !(last_of[$2] in n_targets) { n_targets[last_of[$2]] = 0 }
file == 2 && $1 == "edge" { n_targets[last_of[$2]]++ }
file == 2 && $1 == "range" { begins[$2] = 1 }
file == 2 && $1 == "uncounted" { uncounted_from[++n_uncounted] = hex($2); uncounted_to[n_uncounted] = hex($3) }

# What callgrind counted. The line after calls= has the cost of the callee.
file == 3 && /^ob=/ { mine = substr($0, 4) == object }
file == 3 && /^calls=/ { skip = 1; next }
file == 3 && mine && /^jcnd=/ { split(substr($1, 6), taken, "/"); jump = taken[1]; target = $2; next }
file == 3 && mine && /^jump=/ { jump = substr($1, 6); target = $2; next }
file == 3 && mine && /^0x/ {
    if (skip)
        skip = 0
    else if (target != "") {
        jumped[place[$1], target] += jump
        target = ""
    } else if (NF == 3)
        executed[$1] += $3
}
file == 3 && /^0x/ { skip = 0 }

END {
    for (address in executed)
        if (!(address in place) && !(is_pair(text[place[sprintf("0x%x", hex(address) - 1)]])))
            differ("callgrind saw " address ", which the disassembly does not have")
    for (i = 1; i <= n; i++) {
        times = executed[instruction[i]] + 0
        total += times
        if (i in counted) {
            if (text[i] ~ /^rep/) {
                if (counted[i] > 0)
                    n_rep++
                if (times < counted[i] || (times > 0 && counted[i] == 0))
                    differ(instruction[i] " " routine_of[i] ": callgrind " times ", basic block " counted[i])
            } else if (times != counted[i])
                differ(instruction[i] " " routine_of[i] ": callgrind " times ", basic block " counted[i])
            n_compared++
            if (times) n_executed++
            else n_never++
            in_blocks += times
        } else if (times) {
            known = section_of[i] != ".text"
            for (u = 1; u <= n_uncounted && !known; u++)
                known = hex(instruction[i]) >= uncounted_from[u] && hex(instruction[i]) < uncounted_to[u]
            if (!known && n_frames && !has_frame(instruction[i])) {
                known = 1
                n_nameless++
            }
            if (!known)
                differ(instruction[i] ": executed " times " times, in no basic block and in no routine that is named as not counted")
        }
    }
    for (key in edge) {
        n_edges++
        if (jumped[key] + 0 != edge[key]) {
            split(key, part, SUBSEP)
            if (!jumped[key] && (part[2] in begins) && text[part[1]] == "jmp" &&
                executed[instruction[part[1]]] == edge[key])
                continue
            differ(instruction[part[1]] " -> " part[2] ": callgrind " jumped[key] + 0 " jumps, edge " edge[key])
        }
    }
    if (n_differ) {
        print n_differ " differences"
        exit 1
    }
    if (!n_executed || !n_edges) {
        print "nothing to compare"
        exit 1
    }
    printf "%d basic blocks, %d instructions equal (%d executed, %d never), %d jumps, %d rep, %d nameless; %.4f %% of the program's own instructions\n", \
        n_blocks, n_compared, n_executed, n_never, n_edges, n_rep, n_nameless, 100 * in_blocks / total
}
