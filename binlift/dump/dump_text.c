/* What the dumps of all passes write alike: names, instructions, basic blocks, edges. */
#include "binlift/dump/dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of any kind of characters --------------------------------------------------------- */

/* Bytes of the UTF-8 character that begins at TEXT, which XML may hold too; 0: it is none. */
static unsigned character_bytes(const unsigned char *text) {
    if (text[0] < 0x80)
        return text[0] >= 0x20 && text[0] != 0x7f;
    unsigned n = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    uint32_t code = text[0] & (0x7fu >> n);
    if (text[0] < 0xc0 || text[0] > 0xf4)
        return 0;
    for (unsigned i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    bool is_none = code < lowest[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ||
                   code == 0xfffe || code == 0xffff || code < 0xa0;
    return is_none ? 0 : n;
}

static const char *entity(char character) {
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}

void pm_put_escaped(FILE *out, const char *text, enum pm_escape escape, unsigned most) {
    const char *backslash = escape == PM_ESCAPE_DOT ? "\\\\" : "\\";
    for (unsigned put = 0; *text; put++) {
        unsigned n = character_bytes((const unsigned char *)text);
        if (most && put + 1 == most && text[n ? n : 1]) {
            fputs("…", out);
            return;
        }
        if (!n)
            fprintf(out, "%sx%02x", backslash, *(const unsigned char *)text);
        else if (escape == PM_ESCAPE_HTML && entity(*text))
            fputs(entity(*text), out);
        else if (escape == PM_ESCAPE_DOT && *text == '"')
            fputs("\\\"", out);
        else if (*text == '\\')
            fputs(backslash, out);
        else
            fwrite(text, 1, n, out);
        text += n ? n : 1;
    }
}

/* ---- basic blocks and edges ------------------------------------------------------------------ */

void pm_put_block(const struct pm_dump *dump, uint32_t routine, uint32_t block, bool is_from) {
    if (block == PM_NONE)
        fputs(is_from ? "ENTRY" : "EXIT", dump->out);
    else
        fprintf(dump->out, "b%" PRIu32, block - dump->structure->routines[routine].first_block);
}

const char *pm_edge_kind_word(uint8_t kind) {
    static const char *const words[] = {"entry", "fallthrough", "taken",         "table",
                                        "exit",  "no-return",   "indirect-entry"};
    return kind < sizeof words / sizeof *words ? words[kind] : "?";
}

void pm_put_edge(const struct pm_dump *dump, const struct pm_edge *edge) {
    pm_put_block(dump, edge->routine, edge->from, true);
    fputs(" -> ", dump->out);
    pm_put_block(dump, edge->routine, edge->to, false);
    fprintf(dump->out, " %s", pm_edge_kind_word(edge->kind));
}

void pm_put_source(FILE *out, const struct pm_scope *scope, uint32_t line, enum pm_escape escape) {
    if (!line)
        return;
    if (scope && scope->file) {
        const char *slash = strrchr(scope->file, '/');
        pm_put_escaped(out, slash ? slash + 1 : scope->file, escape, 0);
    } else {
        fputs("line", out);
    }
    fprintf(out, ":%" PRIu32, line);
}

void pm_put_routine(const struct pm_dump *dump, uint32_t r) {
    static const char *const states[] = {"lifted", "partial", "refused"};
    const struct pm_routine *routine = &dump->structure->routines[r];
    fputs("routine ", dump->out);
    pm_put_escaped(dump->out, routine->name, PM_ESCAPE_TEXT, 0);
    fprintf(dump->out,
            "\n at 0x%" PRIx64 " bytes %" PRIu64 " blocks %" PRIu32 " edges %" PRIu32 " state %s\n",
            routine->address, routine->size_bytes, routine->n_blocks, routine->n_edges,
            routine->state < 3 ? states[routine->state] : "?");
    for (uint32_t i = 1; i < routine->n_parts; i++) {
        const struct pm_part *part = &dump->structure->parts[routine->first_part + i];
        fprintf(dump->out, " part 0x%" PRIx64 " bytes %" PRIu64 "\n", part->address,
                part->size_bytes);
    }
    if (routine->display_name && strcmp(routine->display_name, routine->name) != 0) {
        fputs(" name ", dump->out);
        pm_put_escaped(dump->out, routine->display_name, PM_ESCAPE_TEXT, 0);
        fputc('\n', dump->out);
    }
    if (routine->reason) {
        fputs(" reason ", dump->out);
        pm_put_escaped(dump->out, routine->reason, PM_ESCAPE_TEXT, 0);
        fputc('\n', dump->out);
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

char *pm_called_name(const struct pm_lifted *lifted, uint32_t insn) {
    uint64_t address;
    const char *name;
    if (!pm_call_target(lifted, &lifted->insns[insn], &address, &name))
        return NULL;
    if (name)
        return pm_display_name(name);
    uint32_t routine = pm_routine_at(lifted, address);
    if (routine == PM_NONE || lifted->structure->routines[routine].address != address)
        return NULL;
    return pm_strdup(lifted->structure->routines[routine].display_name);
}

/* Addresses without leading zeros, in small letters, as elsewhere in dumps. */
static void shorten_addresses(char *text) {
    enum { DIGITS = 16 };
    char *to = text;
    for (const char *at = text; *at;) {
        if (strncmp(at, "0x", 2) != 0 || strspn(at + 2, "0123456789ABCDEF") != DIGITS) {
            *to++ = *at++;
            continue;
        }
        to += sprintf(to, "0x%" PRIx64, (uint64_t)strtoull(at + 2, NULL, 16));
        at += 2 + DIGITS;
    }
    *to = 0;
}

char *pm_insn_text(const struct pm_lifted *lifted, uint32_t insn) {
    char text[256] = "";
    lifted->isa->print(pm_insn_bytes(lifted, insn), &lifted->insns[insn], text, sizeof text);
    shorten_addresses(text);
    uint8_t control = lifted->insns[insn].control;
    bool goes_elsewhere =
        pm_is_call(control) || control == PM_CONTROL_JUMP || control == PM_CONTROL_JUMP_INDIRECT;
    char *callee = goes_elsewhere ? pm_called_name(lifted, insn) : NULL;
    char *whole = callee ? pm_sprintf("%s # %s", text, callee) : pm_strdup(text);
    free(callee);
    return whole;
}

void pm_put_insn(const struct pm_dump *dump, uint32_t routine, uint32_t insn) {
    fprintf(dump->out, "i%" PRIu32, insn - dump->lifted->routine_codes[routine].first_insn);
}
