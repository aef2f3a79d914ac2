/* Line tables; see dwarf_unit.h.  Needs units.

   A row of the table holds from its address to the next row's; of several rows at one address the
   last one holds.  A sequence whose code the linker dropped starts outside the program's text and
   is left out whole.  Line 0 stays "unknown".  Instructions that hold several operations (VLIW) are
   not told apart. */
#include "binlift/dwarf_unit.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

struct table {
    struct pm_dwarf_encoding encoding;
    struct pm_cursor program; /* the header is read, the files are not */
    struct pm_cursor files;
    uint8_t minimum_length, line_range, opcode_base;
    int8_t line_base;
    uint8_t lengths[256]; /* of the standard opcodes: number of operands */
};

/* A split unit's files are those of its own table, which has no rows; where it has none, those of
   its skeleton. */
static bool open_table(const struct pm_dwarf_unit *unit, struct table *table) {
    uint64_t offset = unit->lines;
    if (unit->is_split && offset == PM_DWARF_NONE) {
        if (!unit->sections[PM_DWARF_LINE].n_bytes)
            return unit->skeleton && open_table(unit->skeleton, table);
        offset = 0;
    }
    memset(table, 0, sizeof *table);
    if (offset == PM_DWARF_NONE)
        return false;
    struct pm_cursor cursor = pm_cursor_at(unit->sections[PM_DWARF_LINE], offset);
    if (cursor.failed)
        return false;
    table->encoding = unit->encoding;
    table->encoding.offset_bytes = 4;
    uint64_t length = pm_take(&cursor, 4);
    if (length == 0xffffffff) {
        length = pm_take(&cursor, 8);
        table->encoding.offset_bytes = 8;
    }
    if (cursor.failed || length > (uint64_t)(cursor.end - cursor.at))
        return false;
    cursor.end = cursor.at + length;
    table->encoding.version = (uint16_t)pm_take(&cursor, 2);
    if (table->encoding.version < 2 || table->encoding.version > 5)
        return false;
    if (table->encoding.version >= 5) {
        table->encoding.address_bytes = (uint8_t)pm_take(&cursor, 1);
        pm_skip(&cursor, 1); /* bytes of a segment selector */
        if (table->encoding.address_bytes == 0 || table->encoding.address_bytes > 8)
            return false;
    }
    uint64_t header = pm_take(&cursor, table->encoding.offset_bytes);
    table->program = cursor;
    pm_skip(&table->program, header);
    table->minimum_length = (uint8_t)pm_take(&cursor, 1);
    if (table->encoding.version >= 4)
        pm_skip(&cursor, 1); /* operations of one instruction */
    pm_skip(&cursor, 1);     /* whether rows begin as statements */
    table->line_base = (int8_t)pm_take(&cursor, 1);
    table->line_range = (uint8_t)pm_take(&cursor, 1);
    table->opcode_base = (uint8_t)pm_take(&cursor, 1);
    for (unsigned i = 1; i < table->opcode_base; i++)
        table->lengths[i] = (uint8_t)pm_take(&cursor, 1);
    table->files = cursor;
    table->files.end = table->program.at;
    return !cursor.failed && !table->program.failed && table->line_range > 0 &&
           table->files.at <= table->files.end;
}

/* ---- rows ----------------------------------------------------------------------------------- */

struct machine {
    const struct table *table;
    struct pm_line_spans *spans;
    uint64_t low, high; /* of the program's text */
    uint64_t address;
    uint32_t file;
    uint64_t line;
    bool has_row, is_dropped;
    struct pm_line_span open; /* from the last row on */
};

static void reset(struct machine *m) {
    m->address = 0;
    m->file = 1;
    m->line = 1;
    m->has_row = m->is_dropped = false;
}

/* A new row, or the end of the sequence, at the machine's address: what was open ends here. */
static void add_row(struct machine *m) {
    if (!m->has_row)
        m->is_dropped = m->address < m->low || m->address >= m->high;
    if (m->has_row && !m->is_dropped && m->open.line && m->open.low < m->address) {
        struct pm_line_spans *spans = m->spans;
        struct pm_line_span *last = spans->n_spans ? &spans->spans[spans->n_spans - 1] : NULL;
        if (last && last->high == m->open.low && last->line == m->open.line &&
            last->file == m->open.file) {
            last->high = m->address;
        } else {
            m->open.high = m->address;
            *PM_PUSH(spans, spans) = m->open;
        }
    }
    m->has_row = true;
    m->open = (struct pm_line_span){
        .low = m->address, .file = m->file, .line = m->line < UINT32_MAX ? (uint32_t)m->line : 0};
}

static void run_extended(struct machine *m, struct pm_cursor *cursor) {
    uint64_t length = pm_take_uleb(cursor);
    if (cursor->failed || length == 0 || length > (uint64_t)(cursor->end - cursor->at))
        return;
    struct pm_cursor inner = {cursor->at, cursor->at + length, false};
    cursor->at += length;
    switch (pm_take(&inner, 1)) {
    case DW_LNE_end_sequence:
        add_row(m);
        reset(m);
        break;
    case DW_LNE_set_address:
        if (length - 1 <= 8)
            m->address = pm_take(&inner, (unsigned)(length - 1));
        break;
    default:
        break;
    }
}

static void run_standard(struct machine *m, struct pm_cursor *cursor, uint8_t opcode) {
    const struct table *table = m->table;
    switch (opcode) {
    case DW_LNS_copy:
        add_row(m);
        break;
    case DW_LNS_advance_pc:
        m->address += table->minimum_length * pm_take_uleb(cursor);
        break;
    case DW_LNS_advance_line:
        m->line += (uint64_t)pm_take_sleb(cursor);
        break;
    case DW_LNS_set_file: {
        uint64_t file = pm_take_uleb(cursor);
        m->file = file < UINT32_MAX ? (uint32_t)file : UINT32_MAX;
        break;
    }
    case DW_LNS_const_add_pc:
        m->address +=
            (uint64_t)table->minimum_length * ((255u - table->opcode_base) / table->line_range);
        break;
    case DW_LNS_fixed_advance_pc:
        m->address += pm_take(cursor, 2);
        break;
    default:
        for (unsigned i = 0; i < table->lengths[opcode]; i++)
            pm_take_uleb(cursor);
        break;
    }
}

void pm_read_line_spans(const struct pm_dwarf_unit *unit, uint64_t low, uint64_t high,
                        struct pm_line_spans *spans) {
    struct table table;
    if (!open_table(unit, &table))
        return;
    struct machine m = {.table = &table, .spans = spans, .low = low, .high = high};
    struct pm_cursor cursor = table.program;
    reset(&m);
    while (!cursor.failed && cursor.at < cursor.end) {
        uint8_t opcode = *cursor.at++;
        if (opcode >= table.opcode_base) {
            unsigned step = opcode - table.opcode_base;
            m.address += (uint64_t)table.minimum_length * (step / table.line_range);
            m.line += (uint64_t)(int64_t)(table.line_base + (int)(step % table.line_range));
            add_row(&m);
        } else if (opcode == 0) {
            run_extended(&m, &cursor);
        } else {
            run_standard(&m, &cursor, opcode);
        }
    }
}

/* ---- files ---------------------------------------------------------------------------------- */

struct names {
    PM_ARRAY(char *, folders);
    const char *unit_folder;
};

static char *join(const char *folder, const char *name) {
    if (*name == '/' || !folder || !*folder)
        return pm_strdup(name);
    return pm_sprintf("%s/%s", folder, name);
}

static char *file_path(const struct names *names, uint64_t folder, const char *name) {
    return join(folder < names->n_folders ? names->folders[folder] : names->unit_folder, name);
}

/* DWARF 2 to 4: folders, then files, both from 1; folder 0 is the unit's. */
static void each_old_file(struct table *table, struct names *names,
                          void (*add)(void *context, char *path), void *context) {
    struct pm_cursor *cursor = &table->files;
    *PM_PUSH(names, folders) = pm_strdup(names->unit_folder ? names->unit_folder : "");
    for (const char *name; (name = pm_take_string(cursor)) && *name;)
        *PM_PUSH(names, folders) = join(names->unit_folder, name);
    add(context, NULL);
    for (const char *name; (name = pm_take_string(cursor)) && *name;) {
        uint64_t folder = pm_take_uleb(cursor);
        pm_take_uleb(cursor); /* time of its last change */
        pm_take_uleb(cursor); /* its length */
        if (cursor->failed)
            return;
        add(context, file_path(names, folder, name));
    }
}

struct format {
    uint8_t n;
    uint64_t content[255], form[255];
};

static void read_format(struct pm_cursor *cursor, struct format *format) {
    format->n = (uint8_t)pm_take(cursor, 1);
    for (unsigned i = 0; i < format->n; i++) {
        format->content[i] = pm_take_uleb(cursor);
        format->form[i] = pm_take_uleb(cursor);
    }
}

/* One folder or file as FORMAT says.  False: damaged. */
static bool read_name(const struct pm_dwarf_unit *unit, struct table *table,
                      const struct format *format, const char **name, uint64_t *folder) {
    *name = NULL;
    *folder = 0;
    for (unsigned i = 0; i < format->n; i++) {
        uint64_t form = format->form[i] <= UINT16_MAX ? format->form[i] : 0;
        struct pm_dwarf_value value =
            pm_take_value(&table->encoding, unit, &table->files, (uint16_t)form, 0);
        if (format->content[i] == DW_LNCT_path)
            *name = value.string;
        else if (format->content[i] == DW_LNCT_directory_index)
            *folder = value.number;
    }
    return !table->files.failed;
}

/* DWARF 5: both from 0, and each says how it is written. */
static void each_new_file(const struct pm_dwarf_unit *unit, struct table *table,
                          struct names *names, void (*add)(void *context, char *path),
                          void *context) {
    struct pm_cursor *cursor = &table->files;
    struct format format;
    const char *name;
    uint64_t folder;
    for (int files = 0; files < 2; files++) {
        read_format(cursor, &format);
        uint64_t n = pm_take_uleb(cursor);
        if (cursor->failed || format.n == 0 || n > (uint64_t)(cursor->end - cursor->at))
            return;
        for (uint64_t i = 0; i < n; i++) {
            if (!read_name(unit, table, &format, &name, &folder))
                return;
            if (files) {
                add(context, name ? file_path(names, folder, name) : NULL);
                continue;
            }
            char *path = join(i ? names->folders[0] : names->unit_folder, name ? name : "");
            *PM_PUSH(names, folders) = path;
        }
    }
}

void pm_each_line_file(const struct pm_dwarf_unit *unit, void (*add)(void *context, char *path),
                       void *context) {
    struct table table;
    if (!open_table(unit, &table))
        return;
    struct names names = {.unit_folder = unit->folder};
    if (table.encoding.version >= 5)
        each_new_file(unit, &table, &names, add, context);
    else
        each_old_file(&table, &names, add, context);
    for (size_t i = 0; i < names.n_folders; i++)
        free(names.folders[i]);
    free(names.folders);
}
