/* Intel syntax → a request to Zydis' encoder. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "machines/probe/code/private.h"

/* Takes the next word of letters and digits; its length. */
static size_t word_length(const char *text) {
    size_t n = 0;
    while (isalnum((unsigned char)text[n]))
        n++;
    return n;
}

static const char *skip_blanks(const char *text) { return text + strspn(text, " \t"); }

static ZydisRegister register_of(const char *name, size_t length) {
    for (int i = 1; i <= ZYDIS_REGISTER_MAX_VALUE; i++) {
        const char *known = ZydisRegisterGetString((ZydisRegister)i);
        if (known && strlen(known) == length && strncmp(known, name, length) == 0)
            return (ZydisRegister)i;
    }
    return ZYDIS_REGISTER_NONE;
}

static ZydisMnemonic mnemonic_of(const char *name, size_t length) {
    for (int i = 1; i <= ZYDIS_MNEMONIC_MAX_VALUE; i++) {
        const char *known = ZydisMnemonicGetString((ZydisMnemonic)i);
        if (known && strlen(known) == length && strncmp(known, name, length) == 0)
            return (ZydisMnemonic)i;
    }
    return ZYDIS_MNEMONIC_INVALID;
}

static unsigned bytes_of_size_word(const char *word, size_t length) {
    static const struct {
        const char *word;
        unsigned bytes;
    } sizes[] = {{"byte", 1},     {"word", 2},     {"dword", 4},   {"qword", 8},
                 {"xmmword", 16}, {"ymmword", 32}, {"zmmword", 64}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strlen(sizes[i].word) == length && strncmp(word, sizes[i].word, length) == 0)
            return sizes[i].bytes;
    return 0;
}

/* "[rdi + 8*xmm1 + 16]" */
static const char *parse_memory(const char *text, ZydisEncoderOperand *operand) {
    operand->type = ZYDIS_OPERAND_TYPE_MEMORY;
    for (text = skip_blanks(text + 1); *text && *text != ']'; text = skip_blanks(text)) {
        if (*text == '+') {
            text = skip_blanks(text + 1);
            continue;
        }
        size_t n = word_length(text);
        if (n == 0)
            return NULL;
        ZydisRegister reg = register_of(text, n);
        char *end;
        if (reg != ZYDIS_REGISTER_NONE && operand->mem.base == ZYDIS_REGISTER_NONE)
            operand->mem.base = reg;
        else if (reg != ZYDIS_REGISTER_NONE) {
            operand->mem.index = reg;
            operand->mem.scale = 1;
        } else {
            long number = strtol(text, &end, 0);
            n = (size_t)(end - text);
            if (n == 0)
                return NULL;
            if (*end == '*') {
                size_t length = word_length(end + 1);
                operand->mem.index = register_of(end + 1, length);
                operand->mem.scale = (ZyanU8)number;
                n += 1 + length;
            } else
                operand->mem.displacement = number;
        }
        text += n;
    }
    return *text == ']' ? text + 1 : NULL;
}

/* One operand; the text behind it, NULL if it is none. */
static const char *parse_operand(const char *text, unsigned memory_bytes,
                                 ZydisEncoderOperand *operand) {
    memset(operand, 0, sizeof *operand);
    text = skip_blanks(text);
    size_t n = word_length(text);
    unsigned bytes = bytes_of_size_word(text, n);
    if (bytes) {
        text = skip_blanks(text + n);
        if (strncmp(text, "ptr", 3) == 0)
            text = skip_blanks(text + 3);
    }
    if (*text == '[') {
        operand->mem.size = (ZyanU16)(bytes ? bytes : memory_bytes);
        return parse_memory(text, operand);
    }
    n = word_length(text);
    if (n == 0)
        return NULL;
    operand->reg.value = register_of(text, n);
    if (operand->reg.value != ZYDIS_REGISTER_NONE) {
        operand->type = ZYDIS_OPERAND_TYPE_REGISTER;
        return text + n;
    }
    char *end;
    operand->type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
    operand->imm.s = strtol(text, &end, 0);
    return end == text + n ? end : NULL;
}

static bool can_encode(const ZydisEncoderRequest *request) {
    ZyanU8 code[ZYDIS_MAX_INSTRUCTION_LENGTH];
    ZyanUSize length = sizeof code;
    return ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(request, code, &length));
}

/* The encoder wants a mask operand behind the first where EVEX has one, and the last of four
   registers marked. */
static bool complete(ZydisEncoderRequest *request, bool has_mask) {
    if (can_encode(request))
        return true;
    ZydisEncoderRequest tried = *request;
    if (!has_mask && tried.operand_count >= 1 && tried.operand_count < PM_FORM_OPERANDS) {
        memmove(tried.operands + 2, tried.operands + 1,
                (tried.operand_count - 1u) * sizeof *tried.operands);
        memset(tried.operands + 1, 0, sizeof *tried.operands);
        tried.operands[1].type = ZYDIS_OPERAND_TYPE_REGISTER;
        tried.operands[1].reg.value = ZYDIS_REGISTER_K0;
        tried.operand_count++;
        if (can_encode(&tried)) {
            *request = tried;
            return true;
        }
    }
    tried = *request;
    if (tried.operand_count == 4 && tried.operands[3].type == ZYDIS_OPERAND_TYPE_REGISTER) {
        tried.operands[3].reg.is4 = ZYAN_TRUE;
        if (can_encode(&tried)) {
            *request = tried;
            return true;
        }
    }
    return false;
}

bool pm_parse_instruction(const char *text, unsigned memory_bytes, ZydisEncoderRequest *request) {
    bool has_mask = false;
    memset(request, 0, sizeof *request);
    request->machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
    text = skip_blanks(text);
    if (strncmp(text, "lock ", 5) == 0) {
        request->prefixes |= ZYDIS_ATTRIB_HAS_LOCK;
        text = skip_blanks(text + 5);
    }
    size_t n = word_length(text);
    request->mnemonic = mnemonic_of(text, n);
    if (request->mnemonic == ZYDIS_MNEMONIC_INVALID)
        return false;
    text = skip_blanks(text + n);
    while (*text) {
        if (request->operand_count == PM_FORM_OPERANDS)
            return false;
        text = parse_operand(text, memory_bytes, &request->operands[request->operand_count++]);
        if (!text)
            return false;
        text = skip_blanks(text);
        if (*text == '{') {
            n = word_length(text + 1);
            if (request->operand_count == PM_FORM_OPERANDS || text[1 + n] != '}')
                return false;
            ZydisEncoderOperand *mask = &request->operands[request->operand_count++];
            memset(mask, 0, sizeof *mask);
            mask->type = ZYDIS_OPERAND_TYPE_REGISTER;
            mask->reg.value = register_of(text + 1, n);
            has_mask = true;
            text = skip_blanks(text + n + 2);
        }
        if (*text == ',')
            text = skip_blanks(text + 1);
        else if (*text)
            return false;
    }
    return complete(request, has_mask);
}
