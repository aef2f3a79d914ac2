/* Blanks the comments of a machine file before libconfuse sees it, which skips them but counts
   lines too many for each (version 3.3; two for `#` and `//`, one for a comment in C's manner), so
   that its messages name lines that are not there.  It also refuses a comment within a list.

   What begins a comment is what libconfuse says: `#` anywhere, `//` and a slash with an asterisk
   where no word is being read; nothing within quotes. */
#include "core/machine/private.h"

#include <stddef.h>
#include <string.h>

/* Newlines stay, so that lines keep their numbers. */
static void blank(char *from, const char *to) {
    for (; from < to; from++)
        if (*from != '\n')
            *from = ' ';
}

/* Behind the comment that begins at AT, NULL if none begins there or it has no end. */
static char *end_of_comment(char *at, bool in_word) {
    if (*at == '#' || (!in_word && at[0] == '/' && at[1] == '/'))
        return at + strcspn(at, "\n");
    if (in_word || at[0] != '/' || at[1] != '*')
        return NULL;
    char *end = strstr(at + 2, "*/");
    return end ? end + 2 : NULL;
}

void pm_machine_blank_comments(char *text) {
    char quote = 0;
    bool in_word = false;
    for (char *at = text; *at; at++) {
        if (quote) {
            if (*at == '\\' && at[1])
                at++;
            else if (*at == quote)
                quote = 0;
            continue;
        }
        char *end = end_of_comment(at, in_word);
        if (end) {
            blank(at, end);
            at = end - 1;
            in_word = false;
            continue;
        }
        if (*at == '"' || *at == '\'')
            quote = *at;
        in_word = !strchr(" \t\r\n\"'={}()+,", *at);
    }
}
