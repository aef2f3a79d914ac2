/* Labels at the places that the section names, in the final order of instructions.  A label is a
   note, which makes no code: one of GCC's notes for deleted user labels, with a number far above
   those that GCC gives (a label made by GCC itself would renumber the ones behind it). */
#include "function_state.h"

static int last_label = 0x1000000;

static int place_label_before(rtx_insn *insn) {
    rtx_note *note = emit_note_before(NOTE_INSN_DELETED, insn);
    NOTE_KIND(note) = NOTE_INSN_DELETED_LABEL;
    CODE_LABEL_NUMBER(note) = ++last_label;
    return last_label;
}

/* Part (0 hot, 1 cold) of each label of GCC's. */
static std::map<int, int> parts_of_labels() {
    std::map<int, int> parts;
    int part = 0;
    for (rtx_insn *insn = get_insns(); insn; insn = NEXT_INSN(insn)) {
        if (NOTE_P(insn) && NOTE_KIND(insn) == NOTE_INSN_SWITCH_TEXT_SECTIONS)
            part = 1;
        if (LABEL_P(insn))
            parts[CODE_LABEL_NUMBER(insn)] = part;
    }
    return parts;
}

static void record_jump_table(rtx_jump_table_data *table, struct pm_code_position at,
                              std::map<int, int> &parts) {
    struct pm_marked_jump_table record;
    record.at = at;
    rtvec labels = table->get_labels();
    for (int i = 0; i < GET_NUM_ELEM(labels); i++) {
        int number = CODE_LABEL_NUMBER(label_ref_label(RTVEC_ELT(labels, i)));
        record.targets.push_back({parts[number], number});
    }
    pm_state()->jump_tables.push_back(record);
}

void pm_emit_labels() {
    struct pm_function_state *s = pm_state();
    std::map<int, int> parts = parts_of_labels();
    int part = 0;
    rtx_insn *next;
    for (rtx_insn *insn = get_insns(); insn; insn = next) {
        next = NEXT_INSN(insn);
        struct pm_code_position at = {part, 0};
        /* One label for all that is to say of a place. */
        auto label = [&](rtx_insn *before) {
            if (!at.label)
                at.label = place_label_before(before);
            if (part == 1 && !s->cold_base)
                s->cold_base = at.label;
        };
        if (NOTE_P(insn)) {
            if (NOTE_KIND(insn) == NOTE_INSN_SWITCH_TEXT_SECTIONS)
                part = 1;
            if (NOTE_KIND(insn) == NOTE_INSN_BASIC_BLOCK && next) {
                label(next);
                s->block_starts.push_back({at, NOTE_BASIC_BLOCK(insn)->index});
            }
            continue;
        }
        if (!NONDEBUG_INSN_P(insn))
            continue;
        if (pm_has_memory_operand(insn)) {
            label(insn);
            pm_record_operands(insn, at);
        }
        rtx_jump_table_data *table;
        if (JUMP_P(insn) && tablejump_p(insn, NULL, &table)) {
            label(insn);
            record_jump_table(table, at, parts);
        }
        if (CALL_P(insn) && find_reg_note(insn, REG_NORETURN, NULL_RTX)) {
            label(insn);
            s->noreturn_calls.push_back(at);
        }
    }
    pm_record_aliases();
}
