/* What copies start with: the value of each slot when its first load is executed, and how replayed
   branches went at first (core/bound_abi.h).  A basic block of which all is known is let be: its
   jump to the copy with reports becomes a no-op, by one store of an aligned word, so that threads
   in the middle of it see the one or the other.

   Reports come between two instructions of the program with its vectors in their registers: they
   use general registers only and call nothing. */
#pragma GCC target("general-regs-only")
#pragma GCC optimize("no-tree-loop-distribute-patterns") /* no loop becomes a call of memcpy */
#define _GNU_SOURCE
#include <string.h>
#include <sys/uio.h>

#include "core/bound_abi.h"
#include "core/raw_file.h"
#include "runtime/shadow_loops/shadow_loops.h"
#include "runtime/modules.h"
#include "runtime/system.h"

enum { WORDS = PM_BOUND_MOST_OUTCOMES / 64 };

struct slot {
    uint64_t n_known; /* bytes */
    uint64_t address; /* that they are from */
    uint8_t bytes[PM_BOUND_SLOT_BYTES];
};

struct branch {
    uint64_t n; /* outcomes; at most pm_bound_watch_file.most_outcomes */
    uint64_t outcomes[WORDS];
};

static const struct pm_bound_watch_file *file; /* NULL: nothing is recorded */
static const struct pm_bound_watched_access *accesses;
static const struct pm_bound_watched_branch *branches;
static const struct pm_bound_watched_block *blocks;
static struct slot *slots;
static struct branch *recorded;
static bool *is_known;   /* per access */
static uint32_t *n_open; /* per block: reports that still tell something */
static bool busy;

/* ---- the jump -------------------------------------------------------------------------------- */

static const struct pm_loaded_module *module_of_file(void) {
    for (uint32_t i = 0; i < pm_n_modules; i++)
        if (pm_modules[i].header.structure_hash == file->module && !pm_modules[i].gone)
            return &pm_modules[i];
    return NULL;
}

static void take_out(uint64_t jump) {
    static const uint8_t no_op[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    const struct pm_loaded_module *module = module_of_file();
    uint64_t page_bytes = PM_BOUND_PAGE_BYTES, word;
    if (!module || jump % sizeof word != 0)
        return;
    uint64_t *at = (uint64_t *)(module->load_bias + jump);
    uint64_t page = (uint64_t)at & ~(page_bytes - 1);
    if (pm_syscall3(SYS_mprotect, (long)page, (long)page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC))
        return; /* it goes on reporting, which changes nothing */
    word = *at;
    memcpy(&word, no_op, sizeof no_op);
    __atomic_store_n(at, word, __ATOMIC_SEQ_CST);
    pm_syscall3(SYS_mprotect, (long)page, (long)page_bytes, PROT_READ | PROT_EXEC);
}

/* One report of BLOCK tells nothing more. */
static void close_report(uint32_t block) {
    if (block < file->n_blocks && n_open[block] > 0 && --n_open[block] == 0)
        take_out(blocks[block].jump);
}

/* ---- reports --------------------------------------------------------------------------------- */

/* The system reads, which gets no signal where an access is masked and part of it not there. */
static uint64_t read_bytes(void *to, uint64_t from, uint64_t n) {
    struct iovec here = {to, n}, there = {(void *)from, n};
    long result = pm_syscall(SYS_process_vm_readv, pm_syscall3(SYS_getpid, 0, 0, 0), (long)&here, 1,
                             (long)&there, 1, 0);
    if (result >= 0)
        return (uint64_t)result;
    for (uint64_t i = 0; i < n; i++) /* the system forbids it */
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    return n;
}

static void record_access(uint32_t number, uint64_t address) {
    const struct pm_bound_watched_access *access = &accesses[number];
    struct slot *slot = &slots[access->slot];
    if (is_known[number])
        return;
    is_known[number] = true;
    if (access->size_bytes == 0 && slot->address == 0) /* a store */
        slot->address = address;
    if (access->size_bytes > slot->n_known) {
        slot->address = address;
        slot->n_known = read_bytes(slot->bytes, address, access->size_bytes);
    }
    close_report(access->block);
}

static void record_branch(uint32_t number, uint64_t taken) {
    struct branch *branch = &recorded[number];
    if (branch->n >= file->most_outcomes)
        return;
    branch->outcomes[branch->n / 64] |= taken << branch->n % 64;
    if (++branch->n == file->most_outcomes)
        close_report(branches[number].block);
}

/* What another thread reports meanwhile is passed over: it comes again. */
void pm_bound_report(struct pm_control_block *block) {
    uint64_t word = block->event;
    uint32_t number = (uint32_t)(word & ~(uint64_t)PM_BOUND_REPORT_BRANCH) >> 1;
    if (!file || __atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
        return;
    if ((word & PM_BOUND_REPORT_BRANCH) && number < file->n_branches)
        record_branch(number, word & 1);
    else if (!(word & PM_BOUND_REPORT_BRANCH) && number < file->n_accesses)
        record_access(number, block->spill[PM_BOUND_REPORT_ADDRESS]);
    __atomic_clear(&busy, __ATOMIC_RELEASE);
}

/* ---- begin and end --------------------------------------------------------------------------- */

static bool is_sound(const struct pm_bound_watch_file *in, uint64_t n_bytes) {
    uint64_t all = sizeof *in + (uint64_t)in->n_accesses * sizeof *accesses +
                   (uint64_t)in->n_branches * sizeof *branches +
                   (uint64_t)in->n_blocks * sizeof *blocks;
    if (in->version != PM_BOUND_VERSION || all != n_bytes ||
        in->most_outcomes > PM_BOUND_MOST_OUTCOMES)
        return false;
    const struct pm_bound_watched_access *table = (const void *)(in + 1);
    for (uint32_t i = 0; i < in->n_accesses; i++)
        if (table[i].block < in->n_blocks &&
            (table[i].slot >= in->n_slots || table[i].size_bytes > PM_BOUND_SLOT_BYTES))
            return false;
    return true;
}

bool pm_recording_begin(const void *bytes, uint64_t n_bytes) {
    const struct pm_bound_watch_file *in = bytes;
    if (n_bytes < sizeof *in || memcmp(in->magic, PM_BOUND_WATCH_MAGIC, sizeof in->magic) != 0 ||
        !is_sound(in, n_bytes))
        return false;
    accesses = (const void *)(in + 1);
    branches = (const void *)(accesses + in->n_accesses);
    blocks = (const void *)(branches + in->n_branches);
    slots = pm_mmap(in->n_slots * sizeof *slots + 1);
    recorded = pm_mmap(in->n_branches * sizeof *recorded + 1);
    is_known = pm_mmap(in->n_accesses * sizeof *is_known + 1);
    n_open = pm_mmap(in->n_blocks * sizeof *n_open + 1);
    if (!slots || !recorded || !is_known || !n_open)
        return false;
    for (uint32_t i = 0; i < in->n_blocks; i++)
        n_open[i] = blocks[i].n_reports;
    file = in;
    pm_first_block->called_path = (uint64_t)pm_bound_report_path;
    return true;
}

void pm_recording_add(struct pm_raw_builder *builder) {
    if (!file)
        return;
    pm_raw_section_begin(builder, PM_RAW_RECORDED);
    pm_raw_add_u64(builder, file->n_slots);
    pm_raw_add_u64(builder, file->n_branches);
    for (uint32_t i = 0; i < file->n_slots; i++)
        pm_raw_add(builder, &slots[i], sizeof slots[i]);
    for (uint32_t i = 0; i < file->n_branches; i++) {
        pm_raw_add_u64(builder, recorded[i].n);
        pm_raw_add(builder, recorded[i].outcomes, (recorded[i].n + 63) / 64 * sizeof(uint64_t));
    }
    pm_raw_section_end(builder);
}
