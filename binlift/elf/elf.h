/* The ELF file: what is read of it before anything is decoded.  The image with its sections, why it
   cannot be instrumented, routines by symbols and unwinding information, what the dynamic linker
   writes, names.  The passes fill struct pm_lifted (binlift/lifted.h), which owns what they make.
 */
#ifndef PM_BINLIFT_ELF_H
#define PM_BINLIFT_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binlift/isa.h"
#include "core/base/base.h"

struct pm_lifted;

/* ---- the image (image.c) -------------------------------------------------------------------- */

struct pm_section {
    const char *name; /* in the image */
    Elf64_Shdr header;
};

struct pm_image {
    char *path;
    uint8_t *bytes; /* the file, private mapping (read-only for all passes) */
    size_t n_bytes;
    const Elf64_Ehdr *header;
    const Elf64_Phdr *segments;
    size_t n_segments;
    PM_ARRAY(struct pm_section, sections);
    bool is_pie, is_shared; /* is_shared: a library (no PT_INTERP) */
    uint8_t build_id[20];
    uint32_t build_id_bytes;
};

/* False with a sentence for what is not an ELF file of an ISA that we know, or is damaged. */
bool pm_read_image(const char *path, struct pm_image *image, struct pm_error *err);
void pm_image_release(struct pm_image *image);
/* File bytes behind link-time ADDRESS, NULL unless N_BYTES are mapped from the file there. */
const uint8_t *pm_image_at(const struct pm_image *image, uint64_t address, uint64_t n_bytes);
/* The same, as a pm_read_memory. */
const uint8_t *pm_image_read(void *image, uint64_t address, uint64_t n_bytes);
const struct pm_section *pm_image_section(const struct pm_image *image, const char *name);
const struct pm_section *pm_image_section_at(const struct pm_image *image, uint64_t address);
bool pm_section_is_code(const struct pm_section *section); /* executable and in the file */

/* "Debian clang version 14.0.6": of the compilers that .comment names the first that is not the GCC
   that has the plugin, owned by the caller; NULL (compilers.c). */
char *pm_other_compiler(const struct pm_image *image);

/* Why the file as a whole cannot be instrumented: a sentence, owned by the caller; NULL
   (refusal.c). */
char *pm_find_refusal(const struct pm_lifted *lifted);

/* ---- unwinding information (eh_frame_ranges.c) ----------------------------------------------- */

/* A range of code that has unwinding information (.eh_frame), with its exception table. */
struct pm_unwind_range {
    uint64_t address, size_bytes;
    uint64_t lsda;  /* address in .gcc_except_table; 0 none */
    bool is_signal; /* where handlers of signals return to: starts a byte before its code */
    /* A frame is there at its first instruction already: it is not entered by a call. */
    bool starts_in_frame;
};
struct pm_unwind_ranges {
    PM_ARRAY(struct pm_unwind_range, ranges); /* ascending by address */
};
void pm_read_unwind_ranges(const struct pm_image *image, struct pm_unwind_ranges *ranges);

struct pm_addresses {
    PM_ARRAY(uint64_t, addresses);
};
/* Addresses where exceptions of RANGE land, appended to *PADS. */
void pm_read_landing_pads(const struct pm_image *image, const struct pm_unwind_range *range,
                          struct pm_addresses *pads);

/* ---- routines (routines.c): structure->routines and lifted->routine_codes -------------------- */

void pm_find_routines(struct pm_lifted *lifted);

/* ---- symbols between files (dynamic_symbols.c) ----------------------------------------------- */

struct pm_function_symbol {
    const char *name; /* in the image */
    uint64_t address;
    bool is_indirect; /* STT_GNU_IFUNC: at ADDRESS is a resolver, which the dynamic linker asks
                         which variant suits the processor */
};
struct pm_function_symbols {
    PM_ARRAY(struct pm_function_symbol, items);
};
/* Those that the file itself has, of all its tables; the caller frees the items. */
void pm_read_function_symbols(const struct pm_image *image, struct pm_function_symbols *symbols);

/* ---- what the dynamic linker writes (relocations.c) ------------------------------------------ */

/* A word that the dynamic linker fills in. */
struct pm_relocation {
    uint64_t place;
    uint64_t value;     /* link-time; 0 where SYMBOL is of another file */
    const char *symbol; /* in the image; NULL none */
};

void pm_read_relocations(struct pm_lifted *lifted);
/* The word at ADDRESS as the loaded program (at its link-time address) has it; false: not there. */
bool pm_word_at(const struct pm_lifted *lifted, uint64_t address, uint64_t *word);
/* Where a direct or indirect call or jump goes if that is fixed: through the PLT or the GOT, or
   straight.  *ADDRESS is 0 and *NAME set for a routine of another file. */
bool pm_call_target(const struct pm_lifted *lifted, const struct pm_insn *insn, uint64_t *address,
                    const char **name);

/* ---- names ----------------------------------------------------------------------------------- */

/* `_ZN3foo3barEi.constprop.0` → `foo::bar(int)`; the caller frees (symbol_names.c). */
char *pm_display_name(const char *linkage_name);

/* Length of LINKAGE_NAME (its first LENGTH bytes) without its last suffix of a part or clone:
   `f._omp_fn.0.cold` gives the length of `f._omp_fn.0`, and that gives the length of `f`. LENGTH if
   it has no suffix. */
size_t pm_source_name_length(const char *linkage_name, size_t length);

/* Names of data objects by address, from .symtab and .dynsym (data_symbols.c). */
struct pm_data_symbols;
struct pm_data_symbols *pm_data_symbols_new(const struct pm_image *image);
void pm_data_symbols_free(struct pm_data_symbols *symbols); /* NULL is fine */
/* Name of the data object that covers ADDRESS, owned by SYMBOLS; NULL. */
const char *pm_data_symbol_at(const struct pm_data_symbols *symbols, uint64_t address);

#endif
