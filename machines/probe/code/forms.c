/* The list of probe instructions: read, encoded, and understood by decoding it again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machines/probe/code/private.h"

static enum pm_register_file file_of(ZydisRegister reg) {
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        return PM_FILE_GENERAL;
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        return PM_FILE_VECTOR;
    case ZYDIS_REGCLASS_MASK:
        return PM_FILE_MASK;
    default:
        return PM_FILE_NONE;
    }
}

static bool is_vector(ZydisRegister reg) { return file_of(reg) == PM_FILE_VECTOR; }

/* A written register is a result; a count in cl stays there. */
static enum pm_operand_role role_of(const ZydisDecodedOperand *operand) {
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
        return PM_OPERAND_ADDRESS;
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
        return is_vector(operand->mem.index) ? PM_OPERAND_INDEX : PM_OPERAND_MEMORY;
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
        file_of(operand->reg.value) == PM_FILE_NONE || operand->reg.value == ZYDIS_REGISTER_K0 ||
        operand->encoding == ZYDIS_OPERAND_ENCODING_NONE)
        return PM_OPERAND_FIXED;
    return operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? PM_OPERAND_RESULT
                                                              : PM_OPERAND_SOURCE;
}

/* What instructions have to do with registers that their text does not name. */
static void read_hidden_operands(const ZydisDecodedInstruction *insn,
                                 const ZydisDecodedOperand *operands, struct pm_form *form) {
    bool reads_dividend = false;
    for (int i = 0; i < insn->operand_count; i++) {
        const ZydisDecodedOperand *operand = &operands[i];
        bool reads = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
        bool writes = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
            operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN) {
            form->is_load |= reads;
            form->is_store |= writes;
        }
        if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT ||
            operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
            file_of(operand->reg.value) != PM_FILE_GENERAL)
            continue;
        form->needs_prelude |= reads && writes;
        reads_dividend |= reads && ZydisRegisterGetId(operand->reg.value) == 2; /* rdx */
    }
    if (form->needs_prelude) {
        form->code->prelude[0] = "mov rax, rbx";
        form->code->prelude[1] = reads_dividend ? "xor edx, edx" : NULL;
    }
}

/* As machine files name it (machines/README.md). */
static const char *mnemonic_of(const ZydisDecodedInstruction *insn,
                               const ZydisDecodedOperand *operands) {
    const ZydisDecodedOperandMem *address = &operands[1].mem;
    if (insn->mnemonic == ZYDIS_MNEMONIC_LEA && address->base && address->index &&
        address->disp.value)
        return "lea3";
    return ZydisMnemonicGetString(insn->mnemonic);
}

static bool understand(struct pm_form *form) {
    ZyanU8 bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
    ZyanUSize length = sizeof bytes;
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct pm_form_code *code = form->code;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&code->request, bytes, &length)) ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, length, &insn, operands)) ||
        insn.operand_count_visible < code->request.operand_count)
        return false;

    form->mnemonic = pm_strdup(mnemonic_of(&insn, operands));
    form->is_control = insn.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE ||
                       insn.meta.category == ZYDIS_CATEGORY_CALL ||
                       insn.meta.category == ZYDIS_CATEGORY_RET;
    if (insn.cpu_flags) {
        form->reads_flags = insn.cpu_flags->tested != 0;
        form->writes_flags =
            (insn.cpu_flags->modified | insn.cpu_flags->set_0 | insn.cpu_flags->set_1) != 0;
    }
    form->carries_flags = form->reads_flags && form->writes_flags;
    read_hidden_operands(&insn, operands, form);
    for (int i = 0; i < code->request.operand_count; i++) {
        enum pm_register_file file = operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER
                                         ? file_of(operands[i].reg.value)
                                         : PM_FILE_NONE;
        code->roles[i] = role_of(&operands[i]);
        if (code->roles[i] == PM_OPERAND_RESULT && form->to == PM_FILE_NONE)
            form->to = file;
        if (code->roles[i] == PM_OPERAND_ADDRESS)
            form->from = PM_FILE_GENERAL;
        if (code->roles[i] == PM_OPERAND_SOURCE && form->from == PM_FILE_NONE)
            form->from = file;
    }
    code->reads_result =
        code->roles[0] == PM_OPERAND_RESULT && operands[0].actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    ZyanU16 result_bits = code->roles[0] == PM_OPERAND_RESULT ? operands[0].size : 0;
    code->keeps_result =
        code->reads_result || (form->to == PM_FILE_GENERAL && result_bits > 0 && result_bits < 32);
    if (code->reads_result && form->from == PM_FILE_NONE)
        form->from = form->to;
    if (form->needs_prelude) /* through rax, which the text need not name */
        form->from = form->to = PM_FILE_GENERAL;
    form->chain_extra_cycles = form->op_class == PM_OP_INT_DIV ? 1 : 0;
    if (form->is_load && form->from == PM_FILE_NONE)
        form->from = PM_FILE_GENERAL;
    if (form->from == PM_FILE_NONE && form->reads_flags)
        form->from = PM_FILE_FLAGS;
    if (form->to == PM_FILE_NONE && form->writes_flags && !form->is_store)
        form->to = PM_FILE_FLAGS;
    /* Only a whole address that was loaded can be loaded from. */
    bool loses_address = form->is_load &&
                         !(form->op_class == PM_OP_LOAD_FP && form->width_bits >= 64) &&
                         !(form->op_class == PM_OP_LOAD_INT && form->width_bits == 64);
    form->can_link = !form->is_control && !form->is_store && form->from != PM_FILE_NONE &&
                     form->to != PM_FILE_NONE && !loses_address;
    form->can_chain = form->can_link && form->from == form->to;
    return true;
}

static bool read_line(const char *path, int number, char *line, struct pm_forms *forms,
                      struct pm_error *err) {
    char class_name[32];
    unsigned width, element;
    int at = 0;
    enum pm_op_class op_class = PM_OP_UNKNOWN;
    line[strcspn(line, "#\n")] = '\0';
    size_t length = strlen(line);
    while (length && strchr(" \t", line[length - 1]))
        line[--length] = '\0';
    if (line[strspn(line, " \t")] == '\0')
        return true;
    if (sscanf(line, "%31s %u %u %n", class_name, &width, &element, &at) != 3 || !line[at])
        return pm_fail(err, "%s:%d: a line is class, width, element, instruction", path, number);
    if (strcmp(class_name, "several") != 0 && !pm_op_class_from_name(class_name, &op_class))
        return pm_fail(err, "%s:%d: there is no class \"%s\"", path, number, class_name);
    if (strstr(line + at, "1f")) /* a branch: it needs more than its own line */
        return true;

    struct pm_form form = {.op_class = op_class, .width_bits = width, .element_bytes = element};
    form.code = pm_alloc(1, sizeof *form.code);
    form.text = pm_strdup(line + at);
    form.leads = op_class != PM_OP_UNKNOWN;
    for (size_t i = 0; i < forms->n_forms; i++)
        if (forms->forms[i].op_class == op_class && forms->forms[i].width_bits == width &&
            forms->forms[i].element_bytes == element)
            form.leads = false;
    bool ok = pm_parse_instruction(form.text, element, &form.code->request) && understand(&form);
    *PM_PUSH(forms, forms) = form;
    return ok || pm_fail(err, "%s:%d: \"%s\" cannot be encoded", path, number, form.text);
}

bool pm_forms_read(const char *path, struct pm_forms *forms, struct pm_error *err) {
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    bool ok = true;
    if (!file)
        return pm_fail_errno(err, "%s", path);
    for (int number = 1; ok && getline(&line, &size, file) >= 0; number++)
        ok = read_line(path, number, line, forms, err);
    free(line);
    fclose(file);
    if (!ok)
        pm_forms_free(forms);
    return ok;
}

void pm_forms_free(struct pm_forms *forms) {
    for (size_t i = 0; i < forms->n_forms; i++) {
        free(forms->forms[i].text);
        free(forms->forms[i].mnemonic);
        free(forms->forms[i].code);
    }
    free(forms->forms);
    memset(forms, 0, sizeof *forms);
}

void pm_forms_try(struct pm_forms *forms) {
    for (size_t i = 0; i < forms->n_forms; i++) {
        struct pm_form *form = &forms->forms[i];
        struct pm_form_count copies = {form, 1};
        form->executes = !form->is_control; /* so that it can be made */
        struct pm_probe_loop *loop = pm_probe_loop_make(&copies, 1, PM_WIRED_APART, 1);
        form->executes = loop && pm_probe_loop_can_run(loop);
        pm_probe_loop_free(loop);
    }
}
