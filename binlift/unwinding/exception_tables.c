/* Exception tables (LSDA) as GCC and its like write them for all languages: a header, the call
   sites by address, the chains of actions, types before and filters behind one place.  Actions
   and filters are numbers; types are addresses, relative to where they stand or fixed. */
#include <stdlib.h>
#include <string.h>

#include "binlift/unwinding/unwinding.h"

enum { OMIT = 0xff, ABSOLUTE_8 = 0x00, ABSOLUTE_4 = 0x03, RELATIVE_4 = 0x1b, INDIRECT = 0x80 };

struct reading {
    const struct pm_image *image;
    const uint8_t *start, *end; /* of the section */
    uint64_t address;
};

static uint64_t address_of(const struct reading *reading, const uint8_t *at) {
    return reading->address + (uint64_t)(at - reading->start);
}

static bool read_sites(const struct reading *reading, struct pm_reader sites, unsigned encoding,
                       uint64_t function, uint64_t landing_pads, struct pm_exception_table *table) {
    while (!sites.fault && pm_bytes_left(&sites)) {
        struct pm_lsda_call_site site;
        site.address = function + pm_take_pointer(&sites, encoding, address_of(reading, sites.at));
        site.end = site.address + pm_take_pointer(&sites, encoding, address_of(reading, sites.at));
        uint64_t landing_pad = pm_take_pointer(&sites, encoding, address_of(reading, sites.at));
        site.landing_pad = landing_pad ? landing_pads + landing_pad : 0;
        site.action = pm_take_uleb(&sites);
        const struct pm_lsda_call_site *last =
            table->n_sites ? &table->sites[table->n_sites - 1] : NULL;
        if (site.end < site.address || (last && site.address < last->end))
            return false;
        *PM_PUSH(table, sites) = site;
    }
    return !sites.fault;
}

/* Follows the chain of actions from OFFSET on; all that it needs is counted. */
static bool read_chain(struct pm_exception_table *table, const uint8_t *end, uint64_t offset,
                       int64_t *least_filter) {
    enum { LONGEST = 4096 };
    for (int n = 0; n < LONGEST; n++) {
        if (offset >= (uint64_t)(end - table->actions))
            return false;
        struct pm_reader reader = {table->actions + offset, end, PM_READ_GOOD};
        int64_t filter = pm_take_sleb(&reader);
        const uint8_t *from = reader.at;
        int64_t distance = pm_take_sleb(&reader);
        if (reader.fault)
            return false;
        if ((uint64_t)(reader.at - table->actions) > table->n_action_bytes)
            table->n_action_bytes = (uint64_t)(reader.at - table->actions);
        if (filter > 0 && (uint64_t)filter > table->n_types)
            table->n_types = (uint64_t)filter;
        if (filter < *least_filter)
            *least_filter = filter;
        if (distance == 0)
            return true;
        offset = (uint64_t)(from - table->actions) + (uint64_t)distance;
    }
    return false;
}

/* Filter −n is a list of numbers of types that begins n − 1 bytes behind the types and ends with 0.
 */
static bool read_filters(struct pm_exception_table *table, const uint8_t *end, int64_t least) {
    if (least == 0)
        return true;
    if (least < -(end - table->types))
        return false;
    struct pm_reader reader = {table->types, end, PM_READ_GOOD};
    uint64_t type = 1;
    while (!reader.fault && (type || reader.at - table->types < -least)) {
        type = pm_take_uleb(&reader);
        if (type > table->n_types)
            table->n_types = type;
    }
    table->n_filter_bytes = (uint64_t)(reader.at - table->types);
    return !reader.fault;
}

static unsigned type_bytes(uint8_t encoding) { return (encoding & 0x0f) == ABSOLUTE_8 ? 8 : 4; }

static bool types_can_move(const struct pm_image *image, uint8_t encoding) {
    unsigned kind = encoding & ~(unsigned)INDIRECT;
    bool is_fixed = !image->is_pie && !image->is_shared;
    return encoding == OMIT || kind == RELATIVE_4 ||
           (is_fixed && (kind == ABSOLUTE_8 || kind == ABSOLUTE_4));
}

/* What is not in the file may be too far away from a new table. */
static bool types_are_here(const struct pm_image *image, const struct pm_exception_table *table) {
    unsigned n_bytes = type_bytes(table->type_encoding);
    for (uint64_t i = 1; i <= table->n_types; i++) {
        struct pm_reader reader = pm_reader_of(table->types - i * n_bytes, n_bytes);
        uint64_t type =
            pm_take_pointer(&reader, table->type_encoding, table->types_address - i * n_bytes);
        if (type && !pm_image_section_at(image, type))
            return false;
    }
    return true;
}

bool pm_read_exception_table(const struct pm_image *image, const struct pm_unwind_fde *fde,
                             struct pm_exception_table *table) {
    const struct pm_section *section = pm_image_section_at(image, fde->lsda);
    table->n_sites = 0;
    table->n_action_bytes = table->n_types = table->n_filter_bytes = 0;
    if (!section || section->header.sh_type == SHT_NOBITS)
        return false;
    const uint8_t *start = image->bytes + section->header.sh_offset;
    struct reading reading = {image, start, start + section->header.sh_size,
                              section->header.sh_addr};
    struct pm_reader reader = {start + (fde->lsda - reading.address), reading.end, PM_READ_GOOD};
    uint64_t landing_pads = fde->address, types = 0;
    uint8_t encoding = (uint8_t)pm_take_unsigned(&reader, 1);
    if (encoding != OMIT && encoding & INDIRECT)
        return false;
    if (encoding != OMIT)
        landing_pads = pm_take_pointer(&reader, encoding, address_of(&reading, reader.at));
    table->type_encoding = (uint8_t)pm_take_unsigned(&reader, 1);
    if (table->type_encoding != OMIT) {
        types = pm_take_uleb(&reader);
        if (types > pm_bytes_left(&reader))
            return false;
        table->types = reader.at + types;
        table->types_address = address_of(&reading, table->types);
    }
    encoding = (uint8_t)pm_take_unsigned(&reader, 1);
    uint64_t length = pm_take_uleb(&reader);
    const uint8_t *sites = pm_take(&reader, length);
    if (!sites || encoding & INDIRECT || !types_can_move(image, table->type_encoding) ||
        !read_sites(&reading, pm_reader_of(sites, length), encoding, fde->address, landing_pads,
                    table))
        return false;
    table->actions = reader.at;
    int64_t least_filter = 0;
    for (size_t i = 0; i < table->n_sites; i++)
        if (table->sites[i].action &&
            !read_chain(table, reading.end, table->sites[i].action - 1, &least_filter))
            return false;
    if (table->type_encoding == OMIT)
        return table->n_types == 0 && least_filter == 0;
    return read_filters(table, reading.end, least_filter) &&
           table->n_types <=
               (uint64_t)(table->types - reading.start) / type_bytes(table->type_encoding) &&
           types_are_here(image, table);
}

void pm_exception_table_release(struct pm_exception_table *table) { free(table->sites); }
