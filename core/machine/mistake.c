/* Where in its file a mistake stands: the line is known, and the sentence quotes what is wrong. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"

void pm_mistake_free(struct pm_mistake *mistake) {
    free(mistake->path);
    free(mistake->sentence);
    *mistake = (struct pm_mistake){0};
}

static const char *line_begin(const char *text, int line) {
    while (--line > 0 && text) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text;
}

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Does WORD stand at LINE[at], not within a longer word? */
static bool is_there(const char *line, size_t at, const char *word, size_t length) {
    return strncmp(line + at, word, length) == 0 &&
           !(at > 0 && is_letter(line[at - 1]) && is_letter(word[0])) &&
           !(is_letter(word[length - 1]) && is_letter(line[at + length]));
}

/* Column of WORD, of LENGTH characters, in the line that begins at LINE; 0. */
static int column_of(const char *line, const char *word, size_t length) {
    size_t end = strcspn(line, "\n");
    for (size_t at = 0; length && at + length <= end; at++)
        if (is_there(line, at, word, length))
            return (int)at + 1;
    return 0;
}

/* Does a section begin in the line? */
static bool opens_section(const char *line) {
    size_t end = strcspn(line, "\n#");
    return memchr(line, '{', end) && !memchr(line, '=', strcspn(line, "{"));
}

/* Looks for WORD in the mistake's line, then above it within the section that ends there. */
static bool look_for(const char *text, const char *word, size_t length,
                     struct pm_mistake *mistake) {
    for (int line = mistake->line; line > 0; line--) {
        const char *begin = line_begin(text, line);
        if (!begin)
            continue;
        int column = column_of(begin, word, length);
        if (column) {
            mistake->line = line;
            mistake->column = column;
            return true;
        }
        if (opens_section(begin))
            return false;
    }
    return false;
}

void pm_mistake_locate(const char *text, const char *sentence, struct pm_mistake *mistake) {
    for (const char *quoted = sentence; (quoted = strpbrk(quoted, "`'")); quoted++) {
        size_t length = strcspn(quoted + 1, "`'");
        const char *word = quoted + 1;
        if (look_for(text, word, length, mistake))
            return;
        const char *equals = strstr(word, " = "); /* `name = value` as the file may space it */
        if (equals && equals < word + length &&
            look_for(text, equals + 3, (size_t)(word + length - equals - 3), mistake))
            return;
        if (equals && equals < word + length &&
            look_for(text, word, (size_t)(equals - word), mistake))
            return;
        quoted += length;
        if (!*quoted)
            break;
    }
    const char *begin = line_begin(text, mistake->line);
    if (begin)
        mistake->column = (int)strspn(begin, " \t") + 1;
}
