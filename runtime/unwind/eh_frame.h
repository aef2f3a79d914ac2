/* The tables of .eh_frame in memory: reading their fields, and finding a routine's description.
   Between the files of this folder. */
#ifndef PM_RUNTIME_UNWIND_EH_FRAME_H
#define PM_RUNTIME_UNWIND_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a table that the dynamic linker has mapped, from AT to END. */
struct pm_table_reader {
    const uint8_t *at, *end;
    bool bad;
};

/* The next N bytes; NULL, and the table is bad, where it is too short.  The numbers are 0 then. */
const uint8_t *pm_read(struct pm_table_reader *table, size_t n);
uint64_t pm_read_unsigned(struct pm_table_reader *table, size_t n);
int64_t pm_read_signed(struct pm_table_reader *table, size_t n);
uint64_t pm_read_uleb(struct pm_table_reader *table);
int64_t pm_read_sleb(struct pm_table_reader *table);
/* A pointer in the DW_EH_PE encoding ENCODING. */
uint64_t pm_read_pointer(struct pm_table_reader *table, unsigned encoding);

/* A routine's frame description entry (FDE), with what it has from its common part. */
struct pm_fde {
    uint64_t begin, end; /* of the code */
    struct pm_table_reader initial, rows;
    uint64_t code_alignment;
    int64_t data_alignment;
    unsigned pointer_encoding;
    bool is_signal_frame;
};

/* The FDE of the code at ADDRESS, by binary search in its module's .eh_frame_hdr. */
bool pm_find_fde(uint64_t address, struct pm_fde *fde);

#endif
