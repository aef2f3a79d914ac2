/* Reads a file of basic blocks (blocks.h). */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/blocks/blocks.h"

enum { STACK_POINTER = 4, LAST_GENERAL = 15 };

static int digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_line(const char *path, unsigned number, const char *text,
                      struct pm_given_blocks *blocks, struct pm_error *err) {
    size_t n_digits = strcspn(text, "\t");
    if (n_digits == 0 || n_digits % 2)
        return pm_fail(err, "%s: line %u: a block is whole bytes, two hexadecimal digits each",
                       path, number);
    for (size_t i = 0; i < n_digits; i++)
        if (digit(text[i]) < 0)
            return pm_fail(err, "%s: line %u: a block is hexadecimal digits, not \"%c\"", path,
                           number, isprint((unsigned char)text[i]) ? text[i] : '?');
    if (text[n_digits] != '\t')
        return pm_fail(err,
                       "%s: line %u: behind the block stands, after a tab, the number of a general "
                       "register that it leaves alone",
                       path, number);
    const char *given = text + n_digits + 1;
    char *end;
    unsigned long counter = strtoul(given, &end, 10);
    if (!isdigit((unsigned char)*given) || (*end && *end != '\t') || counter > LAST_GENERAL ||
        counter == STACK_POINTER)
        return pm_fail(err,
                       "%s: line %u: the register that the block leaves alone is 0 to 15, and not "
                       "4, the stack pointer",
                       path, number);
    struct pm_given_block *block = PM_PUSH(blocks, blocks);
    *block = (struct pm_given_block){.bytes = pm_alloc(n_digits / 2, 1),
                                     .n_bytes = n_digits / 2,
                                     .line = number,
                                     .counter = (unsigned)counter};
    for (size_t i = 0; i < block->n_bytes; i++)
        block->bytes[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    return true;
}

bool pm_given_blocks_read(const char *path, struct pm_given_blocks *blocks, struct pm_error *err) {
    *blocks = (struct pm_given_blocks){0};
    FILE *in = fopen(path, "re");
    if (!in)
        return pm_fail_errno(err, "%s: cannot be read", path);
    char *text = NULL;
    size_t room = 0;
    bool good = true;
    for (unsigned number = 1; good && getline(&text, &room, in) >= 0; number++) {
        text[strcspn(text, "\r\n")] = '\0';
        if (*text && *text != '#')
            good = read_line(path, number, text, blocks, err);
    }
    if (good && ferror(in))
        good = pm_fail_errno(err, "%s: cannot be read", path);
    if (good && blocks->n_blocks == 0)
        good = pm_fail(err, "%s: there are no blocks in this file", path);
    free(text);
    fclose(in);
    return good;
}

void pm_given_blocks_free(struct pm_given_blocks *blocks) {
    for (size_t i = 0; i < blocks->n_blocks; i++)
        free(blocks->blocks[i].bytes);
    free(blocks->blocks);
    *blocks = (struct pm_given_blocks){0};
}
