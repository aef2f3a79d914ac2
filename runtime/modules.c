/* Finds instrumented modules: their added segment begins with a pm_probe_header. */
#define _GNU_SOURCE
#include "runtime/modules.h"

#include <link.h>
#include <string.h>

#include "core/base/base.h"
#include "runtime/notes.h"
#include "runtime/second_core/second_core.h"
#include "runtime/system.h"

struct pm_loaded_module pm_modules[PM_MAX_MODULES];
uint32_t pm_n_modules, pm_n_groups, pm_n_counters, pm_n_references, pm_n_address_records;
struct pm_probe_reference *pm_references;
struct pm_address_record *pm_address_records;
uint32_t *pm_group_scopes, *pm_reference_blocks;
struct pmodel_scope *pm_scopes;
struct pmodel_program pm_program;
struct pm_probe_branch *pm_branches;
uint32_t pm_n_branches;
bool pm_modules_have_events, pm_modules_have_markers, pm_modules_have_starts;
bool pm_modules_have_intervals;
static bool describe_all;

/* Does a table of COUNT items of SIZE bytes lie in the segment? */
static bool table_fits(uint64_t offset, uint64_t count, size_t size, uint64_t segment_bytes) {
    return offset <= segment_bytes && count <= (segment_bytes - offset) / size && offset % 4 == 0;
}

/* Do records of this reference say what is accessed? */
static bool reference_is_usable(const struct pm_probe_reference *reference, uint32_t n_groups) {
    static const unsigned char least_slots[] = {0, 1, 1, 2, 5, 4, 1, 2, 1};
    unsigned kind = reference->kind;
    if (kind >= sizeof least_slots || reference->payload_slots < least_slots[kind] ||
        reference->group >= n_groups || reference->size_bytes == 0 || reference->access < 1 ||
        reference->access > 3)
        return false;
    if (kind == PM_ACCESS_MASK_V)
        return reference->elements * reference->size_bytes <= 32;
    if (kind == PM_ACCESS_GATHER_K)
        return reference->elements * reference->index_bytes <= 64;
    if (kind == PM_ACCESS_GATHER_V)
        return reference->elements * reference->index_bytes <= 32 &&
               reference->elements * reference->size_bytes <= 32;
    return true;
}

static void raise_to(uint32_t *n, uint32_t least) {
    if (*n < least)
        __atomic_store_n(n, least, __ATOMIC_RELEASE);
}

static bool add_references(const struct pm_probe_header *header, uint32_t first_group) {
    const struct pm_probe_reference *table =
        (const void *)((const char *)header + header->references);
    if (header->n_references == 0)
        return true;
    if (header->first_reference > PM_MAX_REFERENCES ||
        header->n_references > PM_MAX_REFERENCES - header->first_reference)
        return false;
    if (!pm_references)
        pm_references = pm_mmap(PM_MAX_REFERENCES * sizeof *pm_references);
    if (!pm_references)
        return false;
    struct pm_probe_reference *into = pm_references + header->first_reference;
    raise_to(&pm_n_references, header->first_reference + header->n_references);
    for (uint32_t i = 0; i < header->n_references; i++) {
        into[i] = table[i];
        into[i].group += first_group;
        if (!reference_is_usable(&table[i], header->n_groups))
            into[i].kind = PM_REFERENCE_UNUSABLE;
        __atomic_store_n(&into[i].reserved, PM_REFERENCE_KNOWN, __ATOMIC_RELEASE);
    }
    return true;
}

/* Before the references themselves, which are known from then on. */
static bool add_reference_blocks(const struct pm_probe_header *header) {
    const uint32_t *table = (const void *)((const char *)header + header->reference_blocks);
    if (!header->reference_blocks)
        return true;
    if (header->first_reference > PM_MAX_REFERENCES ||
        header->n_references > PM_MAX_REFERENCES - header->first_reference)
        return false;
    if (!pm_reference_blocks &&
        !(pm_reference_blocks = pm_mmap(PM_MAX_REFERENCES * sizeof *pm_reference_blocks)))
        return false;
    for (uint32_t i = 0; i < header->n_references; i++) {
        if (table[i] > i)
            return false;
        pm_reference_blocks[header->first_reference + i] = header->first_reference + table[i];
    }
    return true;
}

/* ---- address records ------------------------------------------------------------------------- */

/* ACCESSES, of the module with HEADER, into INTO; false if a record does not say where one is. */
static bool take_accesses(const struct pm_probe_header *header, uint64_t load_bias,
                          const struct pm_probe_address_record *address_record,
                          const struct pm_probe_access *accesses, struct pm_record_access *into) {
    for (unsigned i = 0; i < address_record->n_accesses; i++) {
        const struct pm_probe_access *access = &accesses[i];
        uint32_t reference = header->first_reference + access->reference;
        if (access->reference >= header->n_references ||
            access->address > address_record->n_addresses ||
            pm_references[reference].kind != PM_ACCESS_PLAIN)
            return false;
        uint64_t offset = (uint64_t)access->offset + (access->address ? 0 : load_bias);
        into[i] = (struct pm_record_access){offset, reference, access->address};
    }
    return true;
}

static void count_accesses(struct pm_address_record *address_record, unsigned n_accesses) {
    for (unsigned i = 0; address_record->accesses && i < n_accesses; i++) {
        unsigned access = pm_references[address_record->accesses[i].reference].access;
        address_record->n_loads = (uint8_t)(address_record->n_loads + (access & 1));
        address_record->n_stores = (uint8_t)(address_record->n_stores + (access >> 1 & 1));
    }
}

static bool add_address_records(const struct pm_probe_header *header, uint64_t load_bias) {
    if (header->n_address_records == 0)
        return true;
    if (header->first_address_record > PM_MAX_ADDRESS_RECORDS ||
        header->n_address_records > PM_MAX_ADDRESS_RECORDS - header->first_address_record)
        return false;
    const char *module = (const char *)header;
    const struct pm_probe_address_record *address_records =
        (const void *)(module + header->address_records);
    const struct pm_probe_access *accesses = (const void *)(module + header->accesses);
    if (!pm_address_records)
        pm_address_records = pm_mmap(PM_MAX_ADDRESS_RECORDS * sizeof *pm_address_records);
    struct pm_record_access *copies = pm_mmap((header->n_accesses + 1ul) * sizeof *copies);
    if (!pm_address_records || !copies)
        return false;
    raise_to(&pm_n_address_records, header->first_address_record + header->n_address_records);
    for (uint32_t b = 0; b < header->n_address_records; b++) {
        const struct pm_probe_address_record *address_record = &address_records[b];
        struct pm_record_access *into = copies + address_record->first_access;
        if (address_record->n_addresses > PM_RECORD_ADDRESSES || address_record->n_accesses == 0 ||
            address_record->n_accesses > PM_RECORD_ACCESSES ||
            address_record->first_access > header->n_accesses ||
            address_record->n_accesses > header->n_accesses - address_record->first_access)
            return false;
        bool usable = take_accesses(header, load_bias, address_record,
                                    accesses + address_record->first_access, into);
        struct pm_address_record *added = &pm_address_records[header->first_address_record + b];
        *added = (struct pm_address_record){.accesses = usable ? into : NULL,
                                            .n_addresses = address_record->n_addresses};
        count_accesses(added, address_record->n_accesses);
        __atomic_store_n(&added->n_accesses, address_record->n_accesses, __ATOMIC_RELEASE);
    }
    return true;
}

static bool add_branches(const struct pm_probe_header *header) {
    const struct pm_probe_branch *table = (const void *)((const char *)header + header->branches);
    if (header->n_branches == 0)
        return true;
    if (header->first_branch > PM_MAX_BRANCHES ||
        header->n_branches > PM_MAX_BRANCHES - header->first_branch ||
        (!pm_branches && !(pm_branches = pm_mmap(PM_MAX_BRANCHES * sizeof *pm_branches))))
        return false;
    memcpy(pm_branches + header->first_branch, table, header->n_branches * sizeof *table);
    raise_to(&pm_n_branches, header->first_branch + header->n_branches);
    return true;
}

static bool add_group_scopes(const struct pm_probe_header *header, uint32_t first_group) {
    const uint32_t *table = (const void *)((const char *)header + header->group_scopes);
    if (!header->group_scopes)
        return true;
    if (header->first_scope > PM_MAX_SCOPES ||
        header->n_scopes > PM_MAX_SCOPES - header->first_scope || first_group > PM_MAX_REFERENCES ||
        header->n_groups > PM_MAX_REFERENCES - first_group)
        return false;
    if (!pm_group_scopes &&
        !(pm_group_scopes = pm_mmap(PM_MAX_REFERENCES * sizeof *pm_group_scopes)))
        return false;
    for (uint32_t i = 0; i < header->n_groups; i++) {
        if (table[i] >= header->n_scopes)
            return false;
        pm_group_scopes[first_group + i] = header->first_scope + table[i];
    }
    return true;
}

/* ---- scopes ---------------------------------------------------------------------------------- */

struct scope_table {
    const struct pm_probe_header *header;
    uint64_t segment_bytes;
    const struct pm_probe_scope *scopes;
};

/* The text at OFFSET from the header; NULL if it does not end within the segment. */
static const char *text_at(const struct scope_table *table, uint64_t offset) {
    if (offset >= table->segment_bytes)
        return NULL;
    const char *text = (const char *)table->header + offset;
    return memchr(text, 0, table->segment_bytes - offset) ? text : NULL;
}

static bool add_scope(const struct scope_table *table, uint32_t i) {
    const struct pm_probe_scope *from = &table->scopes[i];
    uint32_t first = table->header->first_scope;
    const char *name = text_at(table, from->name), *file = text_at(table, from->file);
    if (!name || !file || (from->parent != PM_PROBE_NONE && from->parent >= i))
        return false;
    struct pmodel_scope *into = &pm_scopes[first + i];
    *into = (struct pmodel_scope){
        .name = name, .file = file, .line = from->line, .kind = from->kind, .flags = from->flags};
    into->parent = from->parent == PM_PROBE_NONE ? PMODEL_NONE : first + from->parent;
    into->routine = from->kind == PMODEL_ROUTINE    ? first + i
                    : from->parent != PM_PROBE_NONE ? pm_scopes[first + from->parent].routine
                                                    : PMODEL_NONE;
    if (from->flags & (PM_PROBE_SCOPE_STARTS | PM_PROBE_SCOPE_STOPS))
        pm_modules_have_markers = true;
    if (from->flags & PM_PROBE_SCOPE_STARTS)
        pm_modules_have_starts = true;
    return true;
}

static bool add_scopes(const struct pm_probe_header *header, uint64_t segment_bytes) {
    if (!header->has_events && !describe_all)
        return true;
    if (header->first_scope > PM_MAX_SCOPES ||
        header->n_scopes > PM_MAX_SCOPES - header->first_scope)
        return false;
    if (!pm_scopes) {
        pm_scopes = pm_mmap(PM_MAX_SCOPES * sizeof *pm_scopes);
        if (!pm_scopes)
            return false;
    }
    const struct scope_table table = {header, segment_bytes,
                                      (const void *)((const char *)header + header->scopes)};
    for (uint32_t i = pm_program.n_scopes; i < header->first_scope; i++)
        pm_scopes[i].kind = PMODEL_NONE;
    for (uint32_t i = 0; i < header->n_scopes; i++)
        if (!add_scope(&table, i))
            return false;
    pm_modules_have_events |= header->has_events;
    if (pm_program.n_scopes < header->first_scope + header->n_scopes)
        pm_program.n_scopes = header->first_scope + header->n_scopes;
    pm_program.scopes = pm_scopes;
    return true;
}

static struct pmodel_counter *counters;

/* For event handlers: a module that does not describe its counters leaves them empty. */
static bool add_counters(const struct pm_probe_header *header, uint64_t segment_bytes) {
    if (!describe_all || !header->counters)
        return true;
    if (!table_fits(header->counters, header->n_counters, sizeof(struct pm_probe_counter),
                    segment_bytes))
        return false;
    if (!counters && !(counters = pm_mmap(PM_MAX_COUNTERS * sizeof *counters)))
        return false;
    const struct pm_probe_counter *table = (const void *)((const char *)header + header->counters);
    for (uint32_t i = 0; i < header->n_counters; i++)
        counters[header->first_counter + i] =
            (struct pmodel_counter){.from = table[i].from,
                                    .to = table[i].to,
                                    .scope = header->first_scope + table[i].scope};
    pm_program.counters = counters;
    return true;
}

static uint32_t scan; /* ordinal of this one */
uint32_t pm_modules_generation;

static bool is_same(const struct pm_loaded_module *module, const struct pm_probe_header *header) {
    return memcmp(&module->header, header, sizeof *header) == 0;
}

/* The module where it was before, or again after it was gone. */
static bool is_known(const struct pm_probe_header *header, uint64_t load_bias) {
    for (uint32_t i = 0; i < pm_n_modules; i++) {
        struct pm_loaded_module *module = &pm_modules[i];
        if (module->load_bias != load_bias || !is_same(module, header))
            continue;
        module->last_seen = scan;
        module->gone = false;
        return true;
    }
    return false;
}

static void find_unwind_tables(struct pm_loaded_module *module, const struct dl_phdr_info *info) {
    uint64_t at = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            at = info->dlpi_phdr[i].p_vaddr;
    for (int i = 0; at && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && at - segment->p_vaddr < segment->p_filesz) {
            module->unwind_low = (const uint8_t *)(info->dlpi_addr + segment->p_vaddr);
            module->unwind_end = module->unwind_low + segment->p_filesz;
        }
    }
}

static const struct pm_loaded_module *find_twin(const struct pm_probe_header *header) {
    for (uint32_t i = 0; i < pm_n_modules; i++)
        if (is_same(&pm_modules[i], header))
            return &pm_modules[i];
    return NULL;
}

/* Their names are read where they stand. */
static bool intervals_fit(const struct pm_probe_header *header, uint64_t segment_bytes) {
    const struct scope_table texts = {header, segment_bytes, NULL};
    const struct pm_probe_interval *ends = (const void *)((const char *)header + header->intervals);
    if (!table_fits(header->intervals, header->n_intervals, sizeof *ends, segment_bytes))
        return false;
    for (uint32_t i = 0; i < header->n_intervals; i++)
        if (!text_at(&texts, ends[i].name))
            return false;
    return true;
}

static bool is_valid(const struct pm_probe_header *header, uint64_t segment_bytes) {
    return pm_n_modules < PM_MAX_MODULES && header->build_id_bytes <= sizeof header->build_id &&
           header->first_counter <= PM_MAX_COUNTERS &&
           header->n_counters <= PM_MAX_COUNTERS - header->first_counter &&
           table_fits(header->references, header->n_references, sizeof(struct pm_probe_reference),
                      segment_bytes) &&
           table_fits(header->address_records, header->n_address_records,
                      sizeof(struct pm_probe_address_record), segment_bytes) &&
           table_fits(header->accesses, header->n_accesses, sizeof(struct pm_probe_access),
                      segment_bytes) &&
           table_fits(header->branches, header->n_branches, sizeof(struct pm_probe_branch),
                      segment_bytes) &&
           (!header->group_scopes ||
            table_fits(header->group_scopes, header->n_groups, sizeof(uint32_t), segment_bytes)) &&
           (!header->reference_blocks || table_fits(header->reference_blocks, header->n_references,
                                                    sizeof(uint32_t), segment_bytes)) &&
           table_fits(header->traps, header->n_traps, sizeof(struct pm_probe_trap),
                      segment_bytes) &&
           table_fits(header->returns, header->n_returns, sizeof(struct pm_probe_return),
                      segment_bytes) &&
           table_fits(header->moved, header->n_moved, sizeof(struct pm_probe_moved),
                      segment_bytes) &&
           table_fits(header->scopes, header->n_scopes, sizeof(struct pm_probe_scope),
                      segment_bytes) &&
           intervals_fit(header, segment_bytes);
}

/* Records of the module are being consumed meanwhile, maybe: the mark that a reference or address
   record is known is written last. */
static bool add_tables(const struct pm_probe_header *header, uint64_t segment_bytes,
                       uint64_t load_bias, uint32_t first_group) {
    return add_scopes(header, segment_bytes) && add_counters(header, segment_bytes) &&
           add_group_scopes(header, first_group) && add_reference_blocks(header) &&
           add_branches(header) && add_references(header, first_group) &&
           add_address_records(header, load_bias);
}

static void add_module(const struct pm_probe_header *header, uint64_t segment_bytes,
                       const struct dl_phdr_info *info) {
    uint64_t load_bias = info->dlpi_addr;
    if (is_known(header, load_bias))
        return;
    if (header->version != PM_PROBE_VERSION || header->header_bytes != sizeof *header) {
        pm_note_add(PM_NOTE_FOREIGN_VERSION, 1);
        return;
    }
    const struct pm_loaded_module *twin = find_twin(header);
    uint32_t first_group = twin ? twin->first_group : pm_n_groups;
    if (!is_valid(header, segment_bytes) || header->n_groups > PM_MAX_REFERENCES - first_group) {
        pm_note_add(PM_NOTE_DAMAGED_MODULE, 1);
        return;
    }
    if (!twin) {
        pm_n_groups += header->n_groups;
        if (!add_tables(header, segment_bytes, load_bias, first_group)) {
            pm_note_add(PM_NOTE_DAMAGED_MODULE, 1);
            return;
        }
    }
    struct pm_loaded_module *module = &pm_modules[pm_n_modules];
    *module = (struct pm_loaded_module){
        .header = *header,
        .load_bias = load_bias,
        .first_group = first_group,
        .traps = (const void *)((const char *)header + header->traps),
        .repeats = twin != NULL,
        .last_seen = scan,
    };
    find_unwind_tables(module, info);
    if (pm_n_counters < header->first_counter + header->n_counters)
        pm_n_counters = header->first_counter + header->n_counters;
    pm_program.n_groups = pm_n_groups;
    pm_program.n_counters = pm_n_counters;
    pm_program.has_accesses |= header->has_memory_records;
    pm_modules_have_intervals |= header->n_intervals > 0;
    __atomic_store_n(&pm_n_modules, pm_n_modules + 1, __ATOMIC_RELEASE);
}

uint64_t pm_module_old_return(const struct pm_loaded_module *module, uint64_t address) {
    const struct pm_probe_header *header = &module->header;
    uint64_t at = address - module->load_bias - header->header_address;
    const struct pm_probe_return *returns =
        (const void *)(module->load_bias + header->header_address + header->returns);
    if (header->n_returns && at <= UINT32_MAX) {
        size_t i = PM_LOWER_BOUND(header->n_returns, n, returns[n].to < at);
        if (i < header->n_returns && returns[i].to == at)
            return header->old_text + returns[i].from;
    }
    return address - module->load_bias;
}

static int look_at_module(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R) ||
            segment->p_filesz < sizeof(struct pm_probe_header))
            continue;
        const struct pm_probe_header *header = (void *)(info->dlpi_addr + segment->p_vaddr);
        if (memcmp(header->magic, PM_PROBE_MAGIC, sizeof header->magic) == 0 &&
            header->header_address == segment->p_vaddr)
            add_module(header, segment->p_filesz, info);
    }
    return 0;
}

void pm_modules_describe(void) { describe_all = true; }

static unsigned long long n_loaded, n_unloaded; /* at the last scan */

/* 1 if modules were loaded or unloaded since. */
static int look_for_changes(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    return info->dlpi_adds != n_loaded || info->dlpi_subs != n_unloaded ? 1 : -1;
}

static int keep_state(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    n_loaded = info->dlpi_adds;
    n_unloaded = info->dlpi_subs;
    return 1;
}

static int scanning;

void pm_modules_after_fork(void) { scanning = 0; }

/* Signals wait: a handler that looks for modules would wait for whom it interrupted. */
void pm_modules_scan(void) {
    if (pm_analysis_ask_for_scan())
        return;
    if (dl_iterate_phdr(look_for_changes, NULL) != 1)
        return;
    uint64_t mask = pm_signals_block();
    while (__atomic_exchange_n(&scanning, 1, __ATOMIC_ACQUIRE))
        __builtin_ia32_pause();
    dl_iterate_phdr(keep_state, NULL);
    scan++;
    dl_iterate_phdr(look_at_module, NULL);
    for (uint32_t i = 0; i < pm_n_modules; i++)
        pm_modules[i].gone = pm_modules[i].last_seen != scan;
    pm_modules_generation = scan;
    __atomic_store_n(&scanning, 0, __ATOMIC_RELEASE);
    pm_signals_restore(mask);
}
