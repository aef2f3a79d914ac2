/* Prints the section `.pmodel` of an ELF file as text, one record a line, for the plugin's own
   tests: `dump_section FILE`.  Independent of the lifter's reader on purpose.  Places are printed
   as addresses; in an object file, whose bases are not relocated yet, they are offsets. */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pmodel_section.h"

static const unsigned char *at, *end; /* what is left to read */

static void stop(const char *why) {
    fprintf(stderr, "dump_section: %s\n", why);
    exit(1);
}

static uint64_t fixed(int bytes) {
    uint64_t value = 0;
    if (end - at < bytes)
        stop("the section ends inside a record");
    memcpy(&value, at, bytes);
    at += bytes;
    return value;
}

static uint64_t u(void) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = fixed(1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    stop("a number is too long");
    return 0;
}

static int64_t s(void) {
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = fixed(1);
        value |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && shift < 63);
    if (byte & 0x40 && shift < 64)
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

enum { MAX_STRINGS = 1 << 20 };
static const char *strings[MAX_STRINGS];
static unsigned n_strings;
static uint64_t bases[2];

static const char *str(void) {
    uint64_t number = u();
    if (number > n_strings)
        stop("a string is used before it stands");
    return number ? strings[number] : "?";
}

static uint64_t place(void) {
    uint64_t part = u();
    if (part > 1)
        stop("a place is neither hot nor cold");
    return bases[part] + u();
}

static void dump_string(void) {
    const unsigned char *start = at;
    while (fixed(1))
        continue;
    if (++n_strings == MAX_STRINGS)
        stop("too many strings");
    strings[n_strings] = (const char *)start;
}

static void dump_loop(void) {
    printf("loop %lu", u());
    printf(" parent %lu", u());
    printf(" depth %lu", u());
    printf(" at %s", str());
    printf(":%lu", u());
    printf("-%lu", u());
    printf(" trips [%s]", str());
    printf(" unroll %lu", u());
    printf(" flags %lu", u());
    printf(" variable %s\n", str());
}

static void dump_object(void) {
    printf("object %lu", u());
    printf(" name [%s]", str());
    printf(" type [%s]", str());
    printf(" kind %lu\n", u());
}

static void dump_reference(void) {
    printf("reference %lu", u());
    printf(" loop %lu", u());
    printf(" object %lu", u());
    printf(" flags %lu", u());
    printf(" size %lu", u());
    printf(" text [%s]", str());
    printf(" at %s", str());
    printf(":%lu strides", u());
    for (uint64_t levels = u(); levels > 0; levels--) {
        printf(" L%lu:", u());
        uint64_t kind = u();
        if (kind == PM_STRIDE_CONSTANT)
            printf("%ld", s());
        else if (kind == PM_STRIDE_SYMBOLIC)
            printf("(%s)", str());
        else
            printf("%s", kind == PM_STRIDE_INDIRECT ? "indirect" : "unknown");
    }
    putchar('\n');
}

static void dump_jump_table(void) {
    printf("jump %lx to", place());
    for (uint64_t n = u(); n > 0; n--)
        printf(" %lx", place());
    putchar('\n');
}

static void dump_record(void) {
    switch (fixed(1)) {
    case PM_RECORD_STRING:
        dump_string();
        break;
    case PM_RECORD_PRODUCER:
        printf("producer [%s]", str());
        printf(" options [%s]\n", str());
        break;
    case PM_RECORD_LOOP:
        dump_loop();
        break;
    case PM_RECORD_OBJECT:
        dump_object();
        break;
    case PM_RECORD_REFERENCE:
        dump_reference();
        break;
    case PM_RECORD_BLOCK:
        printf("block %lx", place());
        printf(" index %lu", u());
        printf(" loop %lu\n", u());
        break;
    case PM_RECORD_EDGE:
        printf("edge %lu", u());
        printf(" to %lu", u());
        printf(" flags %lu\n", u());
        break;
    case PM_RECORD_MEMORY:
        printf("memory %lx", place());
        printf(" reference %lu", u());
        printf(" class %lu", u());
        printf(" access %lu", u());
        printf(" loop %lu\n", u());
        break;
    case PM_RECORD_JUMP_TABLE:
        dump_jump_table();
        break;
    case PM_RECORD_MAY_ALIAS:
        printf("alias %lu with", u());
        for (uint64_t n = u(); n > 0; n--)
            printf(" %lu", u());
        putchar('\n');
        break;
    case PM_RECORD_NORETURN:
        printf("noreturn %lx\n", place());
        break;
    default:
        stop("a record of an unknown kind");
    }
}

static void dump_contribution(const unsigned char *section_end) {
    end = section_end;
    if (fixed(4) != PM_SECTION_MAGIC || fixed(2) != PM_SECTION_VERSION)
        stop("a contribution has another magic or version");
    uint64_t flags = fixed(2), payload = fixed(4);
    bases[0] = fixed(8);
    bases[1] = fixed(8);
    if ((uint64_t)(section_end - at) < payload)
        stop("a contribution is longer than its section");
    end = at + payload;
    n_strings = 0;
    printf("contribution %lx cold %lx flags %lu\n", bases[0], bases[1], flags);
    while (at < end)
        dump_record();
}

static unsigned char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END))
        stop("the file cannot be read");
    *size = ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    if (!bytes || fread(bytes, 1, *size, file) != *size)
        stop("the file cannot be read");
    fclose(file);
    return bytes;
}

int main(int argc, char **argv) {
    size_t size;
    if (argc != 2)
        stop("name one ELF file");
    unsigned char *bytes = read_file(argv[1], &size);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
    if (size < sizeof *header || memcmp(bytes, ELFMAG, SELFMAG) ||
        header->e_shoff + header->e_shnum * sizeof(Elf64_Shdr) > size)
        stop("not a 64-bit ELF file with sections");
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(bytes + header->e_shoff);
    const char *names = (const char *)bytes + sections[header->e_shstrndx].sh_offset;
    bool found = false;
    for (int i = 0; i < header->e_shnum; i++) {
        if (strcmp(names + sections[i].sh_name, PM_SECTION_NAME))
            continue;
        found = true;
        const unsigned char *section_end = bytes + sections[i].sh_offset + sections[i].sh_size;
        for (at = bytes + sections[i].sh_offset; at < section_end;) {
            if (*at)
                dump_contribution(section_end);
            else
                at++; /* padding */
        }
    }
    free(bytes);
    if (!found)
        stop("no section " PM_SECTION_NAME);
    return 0;
}
