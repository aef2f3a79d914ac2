/* A hash of the code of a file, and of the data that it works on, which is the same for all builds
   that do the same: what they do not have in common for other reasons is left out.  Needs
   basic blocks, lines of instructions, jump tables and relocations.

   Of the loaded file it has the executable sections, the contents of the other ones, and what the
   dynamic linker puts where.  Left out, or made independent of where it stands, is
     - the build-id, and all that is not loaded: debug information, names, the compiler's metadata;
     - a line number in code, as `assert` and Fortran's input and output have it: a constant of 32
       bits that is the number of the very line that its instruction is of, in a basic block that
       takes the address of a source file's name, or calls Fortran's library;
     - the folder before the name of a source file in a text, as __FILE__ has it, and a line number
       in such a text, as in Fortran's "At line 12 of file …"; behind it zeros may be more or fewer,
       because what follows is aligned;
     - with that, how far data is from the code that names it: instead there is the section, and
       what counts of it up to there. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "binlift/lifted.h"

/* A section with contents, without what does not count. */
struct content {
    const struct pm_section *section;
    bool *left_out;   /* of each byte; NULL: all count */
    uint64_t *before; /* how many bytes that count are before each; NULL: all */
};

struct identity {
    const struct pm_lifted *lifted;
    PM_ARRAY(struct content, contents);
    const uint32_t *insn_line; /* NULL: not known */
    bool *tells_line;          /* of each basic block: to something that it calls, perhaps */
    XXH3_state_t *state;
};

static void add_number(const struct identity *id, uint64_t number) {
    XXH3_64bits_update(id->state, &number, sizeof number);
}

static void add_text(const struct identity *id, const char *text) {
    XXH3_64bits_update(id->state, text, strlen(text) + 1);
}

/* ---- texts that name source files ------------------------------------------------------------ */

static bool is_source_name(const char *word, size_t length) {
    static const char *const suffixes[] = {"c",   "h",   "cc",  "cpp", "cxx", "C",   "hh",
                                           "hpp", "hxx", "ipp", "tcc", "inc", "f",   "for",
                                           "F",   "f77", "f90", "F90", "f95", "f03", "f08"};
    size_t dot = length;
    while (dot > 0 && word[dot - 1] != '.' && word[dot - 1] != '/')
        dot--;
    if (dot == 0 || word[dot - 1] != '.')
        return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strlen(suffixes[i]) == length - dot &&
            memcmp(suffixes[i], word + dot, length - dot) == 0)
            return true;
    return false;
}

/* The folder before the source file's name that the word of TEXT from FIRST to END is, or has
   between its quotes; returns whether it is one. */
static bool leave_out_folder(const char *text, size_t first, size_t end, bool *left_out) {
    static const char around[] = "'\"`,:;()";
    while (first < end && strchr(around, text[first]))
        first++;
    while (first < end && strchr(around, text[end - 1]))
        end--;
    if (!is_source_name(text + first, end - first))
        return false;
    size_t name = end;
    while (name > first && text[name - 1] != '/')
        name--;
    memset(left_out + first, true, name - first);
    return true;
}

/* Marks in LEFT_OUT what does not count of TEXT; returns whether it names a source file. */
static bool leave_out_of_text(const char *text, size_t length, bool *left_out) {
    static const char before_number[] = "line ";
    const size_t n_before = sizeof before_number - 1;
    bool named = false;
    for (size_t first = 0, end; first < length; first = end + 1) {
        for (end = first; end < length && !isspace((unsigned char)text[end]);)
            end++;
        named |= leave_out_folder(text, first, end, left_out);
    }
    for (size_t at = 0; named && at + n_before < length; at++)
        if (memcmp(text + at, before_number, n_before) == 0)
            for (size_t i = at + n_before; i < length && isdigit((unsigned char)text[i]); i++)
                left_out[i] = true;
    return named;
}

static bool leave_out_of_texts(const char *bytes, size_t n, bool *left_out) {
    bool any = false;
    for (size_t first = 0, end; first < n; first = end + 1) {
        for (end = first; end < n && (isprint((unsigned char)bytes[end]) || bytes[end] == '\t');)
            end++;
        if (end < n && bytes[end] == '\0' && end > first)
            any |= leave_out_of_text(bytes + first, end - first, left_out + first);
    }
    return any;
}

/* ---- contents -------------------------------------------------------------------------------- */

static bool is_table(const struct pm_section *section) {
    static const char *const made_by_linker[] = {".note", ".eh_frame", ".gcc_except_table",
                                                 ".gnu.", ".dyn",      ".interp",
                                                 ".got",  ".rela",     ".hash"};
    for (size_t i = 0; i < sizeof made_by_linker / sizeof *made_by_linker; i++)
        if (strncmp(section->name, made_by_linker[i], strlen(made_by_linker[i])) == 0)
            return true;
    return false;
}

static bool has_content(const struct pm_section *section) {
    return (section->header.sh_flags & SHF_ALLOC) && section->header.sh_type != SHT_NOBITS &&
           !pm_section_is_code(section) && !is_table(section);
}

/* Entries of jump tables are distances of code, whose targets count by themselves. */
static bool leave_out_tables(const struct identity *id, struct content *content) {
    const Elf64_Shdr *header = &content->section->header;
    bool any = false;
    for (size_t t = 0; t < id->lifted->n_tables; t++) {
        const struct pm_jump_table *table = &id->lifted->tables[t];
        uint64_t n_bytes = (uint64_t)table->entry_bytes * table->n_targets;
        if (table->address < header->sh_addr || n_bytes > header->sh_size ||
            table->address - header->sh_addr > header->sh_size - n_bytes)
            continue;
        memset(content->left_out + (table->address - header->sh_addr), true, n_bytes);
        any |= n_bytes > 0;
    }
    return any;
}

static void add_content(struct identity *id, const struct pm_section *section) {
    struct content *content = PM_PUSH(id, contents);
    size_t n = section->header.sh_size;
    const char *bytes = (const char *)id->lifted->image.bytes + section->header.sh_offset;
    *content = (struct content){.section = section, .left_out = pm_alloc(n, sizeof(bool))};
    bool texts = leave_out_of_texts(bytes, n, content->left_out);
    if (!leave_out_tables(id, content) && !texts) {
        free(content->left_out);
        content->left_out = NULL;
        XXH3_64bits_update(id->state, bytes, n);
        return;
    }
    content->before = pm_alloc(n + 1, sizeof *content->before);
    char *kept = pm_alloc(n, 1);
    for (size_t i = 0; i < n; i++) {
        content->left_out[i] |= texts && i > 0 && !bytes[i] && !bytes[i - 1];
        kept[content->before[i]] = bytes[i];
        content->before[i + 1] = content->before[i] + !content->left_out[i];
    }
    XXH3_64bits_update(id->state, kept, content->before[n]);
    free(kept);
}

/* A place in the file, however far apart sections are. */
static void add_place(const struct identity *id, uint64_t address) {
    const struct pm_section *section = pm_image_section_at(&id->lifted->image, address);
    if (!section) {
        add_number(id, address);
        return;
    }
    uint64_t offset = address - section->header.sh_addr;
    for (size_t i = 0; i < id->n_contents; i++)
        if (id->contents[i].section == section && id->contents[i].before)
            offset = id->contents[i].before[offset];
    add_text(id, section->name);
    add_number(id, offset);
}

/* ---- code ------------------------------------------------------------------------------------ */

/* The 32 bits at OFFSET of the instruction. */
static uint32_t word_of(const struct pm_lifted *lifted, const struct pm_insn *insn,
                        unsigned offset) {
    uint32_t word = 0;
    const uint8_t *bytes = pm_image_at(&lifted->image, insn->address, insn->length);
    if (bytes && offset + sizeof word <= insn->length)
        memcpy(&word, bytes + offset, sizeof word);
    return word;
}

/* Where a pc-relative operand is; 0: it has none. */
static uint64_t named_place(const struct pm_lifted *lifted, const struct pm_insn *insn) {
    int32_t distance = (int32_t)word_of(lifted, insn, insn->pc_displacement_offset);
    return insn->pc_displacement_offset && !insn->target
               ? insn->address + insn->length + (uint64_t)(int64_t)distance
               : 0;
}

static bool is_source_text(const struct pm_lifted *lifted, uint64_t address) {
    const struct pm_section *section =
        address ? pm_image_section_at(&lifted->image, address) : NULL;
    if (!section || !has_content(section))
        return false;
    uint64_t offset = address - section->header.sh_addr, room = section->header.sh_size - offset;
    const char *text = (const char *)lifted->image.bytes + section->header.sh_offset + offset;
    const char *end = memchr(text, 0, room);
    return end && is_source_name(text, (size_t)(end - text));
}

static bool calls_fortran(const struct pm_lifted *lifted, const struct pm_insn *insn) {
    static const char prefix[] = "_gfortran_";
    uint64_t address;
    const char *name = NULL;
    return pm_is_call(insn->control) && pm_call_target(lifted, insn, &address, &name) && name &&
           strncmp(name, prefix, sizeof prefix - 1) == 0;
}

static void mark_blocks(struct identity *id) {
    const struct pm_lifted *lifted = id->lifted;
    id->tells_line = pm_alloc(lifted->structure->n_blocks, sizeof *id->tells_line);
    for (size_t i = 0; i < lifted->n_insns; i++) {
        const struct pm_insn *insn = &lifted->insns[i];
        uint32_t block = lifted->insn_block[i];
        uint64_t constant = /* an address, where code does not move */
            insn->immediate_bytes == 4 ? word_of(lifted, insn, insn->length - 4u) : 0;
        if (block != PM_NONE && (is_source_text(lifted, named_place(lifted, insn)) ||
                                 is_source_text(lifted, constant) || calls_fortran(lifted, insn)))
            id->tells_line[block] = true;
    }
}

static bool is_line_number(const struct identity *id, size_t i) {
    const struct pm_insn *insn = &id->lifted->insns[i];
    uint32_t block = id->lifted->insn_block[i];
    return id->insn_line && id->insn_line[i] && insn->immediate_bytes == 4 && block != PM_NONE &&
           id->tells_line[block] &&
           word_of(id->lifted, insn, insn->length - 4u) == id->insn_line[i];
}

/* Marks 4 bytes of the copy of a section's CODE. */
static void blank(uint8_t *code, const Elf64_Shdr *header, uint64_t address) {
    if (address >= header->sh_addr && address - header->sh_addr + 4 <= header->sh_size)
        memset(code + (address - header->sh_addr), 0, 4);
}

/* Blanks in CODE, a copy of SECTION, what instruction I has that counts otherwise or not at all. */
static void add_instruction(const struct identity *id, size_t i, const struct pm_section *section,
                            uint8_t *code) {
    const struct pm_insn *insn = &id->lifted->insns[i];
    uint64_t place = named_place(id->lifted, insn);
    const struct pm_section *target = pm_image_section_at(&id->lifted->image, place);
    if (place && (!target || !pm_section_is_code(target))) {
        add_place(id, place);
        blank(code, &section->header, insn->address + insn->pc_displacement_offset);
    }
    if (is_line_number(id, i))
        blank(code, &section->header, insn->address + insn->length - 4u);
}

static void add_code(const struct identity *id, const struct pm_section *section) {
    const struct pm_lifted *lifted = id->lifted;
    const Elf64_Shdr *header = &section->header;
    uint8_t *code = pm_alloc(header->sh_size, 1);
    memcpy(code, lifted->image.bytes + header->sh_offset, header->sh_size);
    for (size_t i = 0; i < lifted->n_insns; i++)
        if (lifted->insns[i].address - header->sh_addr < header->sh_size)
            add_instruction(id, i, section, code);
    XXH3_64bits_update(id->state, code, header->sh_size);
    free(code);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void add_links(const struct identity *id) {
    const struct pm_lifted *lifted = id->lifted;
    for (size_t t = 0; t < lifted->n_table_targets; t++)
        add_place(id, lifted->table_targets[t]);
    for (size_t i = 0; i < lifted->n_relocations; i++) {
        const struct pm_relocation *relocation = &lifted->relocations[i];
        add_place(id, relocation->place);
        if (relocation->symbol)
            add_text(id, relocation->symbol);
        else
            add_place(id, relocation->value);
    }
}

uint64_t pm_hash_code(const struct pm_lifted *lifted, const uint32_t *insn_line) {
    struct identity id = {.lifted = lifted, .insn_line = insn_line, .state = XXH3_createState()};
    if (!id.state)
        abort();
    XXH3_64bits_reset(id.state);
    mark_blocks(&id);
    const struct pm_image *image = &lifted->image;
    for (size_t i = 0; i < image->n_sections; i++)
        if (has_content(&image->sections[i])) {
            add_text(&id, image->sections[i].name);
            add_content(&id, &image->sections[i]);
        }
    for (size_t i = 0; i < image->n_sections; i++)
        if (pm_section_is_code(&image->sections[i]))
            add_code(&id, &image->sections[i]);
    add_links(&id);
    uint64_t hash = XXH3_64bits_digest(id.state);
    XXH3_freeState(id.state);
    for (size_t i = 0; i < id.n_contents; i++) {
        free(id.contents[i].left_out);
        free(id.contents[i].before);
    }
    free(id.contents);
    free(id.tells_line);
    return hash ? hash : 1; /* 0 means not known */
}
