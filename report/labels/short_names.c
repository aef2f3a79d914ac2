/* Names of C++ routines as a table can show them: `std::vector<…>::push_back` for a demangled name
   with its return type, template arguments and parameters.  JSON has the whole name beside the
   label.  Names of C and Fortran have none of these and stay as they are. */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "report/labels/labels.h"

static const char anonymous[] = "(anonymous namespace)";
static const char arguments[] = "<…>";

static bool starts_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Length of "operator" and its symbol at NAME, which may hold < > ( ); 0 if none is there. */
static size_t operator_length(const char *name, const char *start) {
    static const char word[] = "operator";
    if (!starts_with(name, word) || (name > start && name[-1] != ':' && name[-1] != ' '))
        return 0;
    const char *symbol = name + sizeof word - 1;
    if (starts_with(symbol, "()"))
        return sizeof word - 1 + 2;
    return sizeof word - 1 + strspn(symbol, "<>=!+-*/%&|^~[],");
}

/* The character that closes the bracket at OPEN; the end of the text if none does. */
static const char *closing(const char *open) {
    int depth = 0;
    const char *at = open;
    for (; *at; at++) {
        if (strchr("<([{", *at))
            depth++;
        else if (strchr(")]}", *at) || (*at == '>' && at[-1] != '-'))
            depth--;
        if (depth == 0)
            return at;
    }
    return at - 1;
}

char *pm_short_name(const char *name) {
    if (!strpbrk(name, "<("))
        return pm_strdup(name);
    /* Never longer: "<…>" takes as many bytes as the shortest arguments, one more at most. */
    char *out = pm_alloc(2 * strlen(name) + 1, sizeof arguments);
    size_t n = 0;
    for (const char *at = name; *at; at++) {
        size_t length = operator_length(at, name);
        if (!length && starts_with(at, anonymous))
            length = sizeof anonymous - 1;
        if (length) {
            memcpy(out + n, at, length);
            n += length;
            at += length - 1;
        } else if (*at == '<') {
            memcpy(out + n, arguments, sizeof arguments - 1);
            n += sizeof arguments - 1;
            at = closing(at);
        } else if (*at == '(') {
            break; /* the parameters, and what follows them */
        } else if (starts_with(at, " <")) {
            continue; /* operator<< <char> */
        } else if (*at == ' ' && !(n >= 8 && starts_with(out + n - 8, "operator"))) {
            n = 0; /* what was there is the type of the result */
        } else {
            out[n++] = *at;
        }
    }
    out[n] = '\0';
    if (n == 0) {
        free(out);
        return pm_strdup(name);
    }
    return out;
}
