/* Made-up data: what registers and memory hold before a loop begins, and the pages that are mapped
   where it touches memory.

   Registers lead to places that are far from each other, at the same offset in their pages, so that
   a store never meets the load of another array by its low bits (4K aliasing) unless loads stay
   behind the store in the program as well.  Page numbers differ in low bits, so that neither sets
   of TLBs nor the way predictor of a cache meets two of them as one.

   Each word of memory is a double and two floats between 1 and 2, and has a number of its own in
   its bits.  When one is used as an address, the number tells which word that was, and from then on
   it holds an address. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machines/probe/loop_runner/private.h"

enum {
    PAGE = 4096,
    PAGE_WORDS = PAGE / 8,
    OFFSET = 0x400,   /* in a page: room for displacements either way */
    APART = 4 * PAGE, /* between low halves of addresses in registers */
    FIRST_STATE_WORD = PM_LOOP_MOST_PAGES * PAGE_WORDS, /* numbers of words of vector registers */
    N_WORDS = FIRST_STATE_WORD + 32 * 8,
    N_SLOTS = 32, /* places that pointers in memory lead to */
    SLOT = 64,
    STEP = 32,            /* of small integers: a stride in bytes that keeps vectors aligned */
    N_STEPS = 4,          /* of those that fill memory */
    N_PATCHED_STEPS = 16, /* of indices in memory, which are not to meet */
};

/* Floating-point exceptions are masked, denormals are zero: made-up data may overflow and
   underflow. */
static const uint32_t MXCSR = 0x9fc0;
static const uint64_t DOUBLE_ONE = 0x3ff00000, FLOAT_ONE = 0x3f800000;
static const uint64_t POINTED = (UINT64_C(900) << 32) | 100 * APART | OFFSET;
/* How far an address may be from the word that it came from. */
static const int64_t MOST_DISPLACEMENT = 1 << 16;

static uint64_t slot_address(const struct pm_loop_memory *memory, unsigned n) {
    unsigned slot = memory->layout ? n % (N_SLOTS - 1) + 1 : n % N_SLOTS;
    return POINTED + (uint64_t)slot * SLOT;
}

static uint64_t filled_word(const struct pm_loop_memory *memory, uint32_t word) {
    if (memory->is_of_block)
        return PM_LOOP_BLOCK_VALUE;
    switch (memory->fill) {
    case PM_LOOP_FILL_INDICES:
        return STEP * (1 + (memory->layout ? word / 2 : word) % N_STEPS);
    case PM_LOOP_FILL_POINTERS:
        return slot_address(memory, word);
    default:
        return (DOUBLE_ONE | word) << 32 | (FLOAT_ONE | word);
    }
}

/* ---- pages ----------------------------------------------------------------------------------- */

static bool is_writable(const struct pm_image *image, uint64_t address) {
    for (size_t i = 0; i < image->n_segments; i++) {
        const Elf64_Phdr *segment = &image->segments[i];
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_memsz)
            return segment->p_flags & PF_W;
    }
    return true;
}

/* What the file says of the page that is mapped at ADDRESS, if that is a constant part of the
   program. */
static bool fill_from_file(const struct pm_image *image, uint64_t address, uint64_t *words) {
    uint64_t place = address - (address >= PM_LOOP_IMAGE ? PM_LOOP_IMAGE : 0);
    if (!image || place >= PM_LOOP_IMAGE_BYTES || is_writable(image, place))
        return false;
    for (unsigned i = 0; i < PAGE_WORDS; i++) {
        const uint8_t *at = pm_image_at(image, place + i * 8, 8);
        if (at)
            memcpy(&words[i], at, 8);
    }
    return true;
}

static void fill_page(struct pm_loop_memory *memory, unsigned index) {
    struct pm_loop_page *page = &memory->pages[index];
    if (page->is_constant)
        return;
    for (uint32_t i = 0; i < PAGE_WORDS; i++)
        page->first[i] = filled_word(memory, index * PAGE_WORDS + i);
    for (unsigned i = 0; i < memory->n_patches; i++) {
        uint32_t word = memory->patches[i].word;
        if (word / PAGE_WORDS == index)
            page->first[word % PAGE_WORDS] = memory->patches[i].value;
    }
}

bool pm_loop_memory_init(struct pm_loop_memory *memory) {
    memory->file = memfd_create("pmodel-loops", MFD_CLOEXEC);
    return memory->file >= 0 &&
           !ftruncate(memory->file, (off_t)PM_LOOP_SETTINGS * PM_LOOP_MOST_PAGES * PAGE);
}

/* Page number INDEX of the present setting at ADDRESS. */
static bool place_page(const struct pm_loop_memory *memory, unsigned index, uint64_t address,
                       int fixed) {
    void *place = (void *)(uintptr_t)address;
    off_t offset = (off_t)(memory->setting * PM_LOOP_MOST_PAGES + index) * PAGE;
    return mmap(place, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, memory->file, offset) ==
           place;
}

bool pm_loop_memory_move(struct pm_loop_memory *memory, unsigned setting) {
    memory->setting = setting;
    for (unsigned i = 0; i < memory->n_pages; i++) {
        const struct pm_loop_page *page = &memory->pages[i];
        if (!place_page(memory, i, page->address, MAP_FIXED))
            return false;
        memcpy((void *)(uintptr_t)page->address, page->first, PAGE);
    }
    return true;
}

enum pm_loop_refusal pm_loop_memory_map(struct pm_loop_memory *memory, uint64_t address) {
    address &= ~(uint64_t)(PAGE - 1);
    if (memory->n_pages == PM_LOOP_MOST_PAGES)
        return PM_LOOP_PAGES;
    if (address >> 47 || !place_page(memory, memory->n_pages, address, MAP_FIXED_NOREPLACE))
        return PM_LOOP_ADDRESS;
    unsigned index = memory->n_pages++;
    struct pm_loop_page *page = &memory->pages[index];
    page->address = address;
    if (!page->first)
        page->first = pm_alloc(PAGE_WORDS, sizeof *page->first);
    page->is_constant = fill_from_file(memory->image, address, page->first);
    fill_page(memory, index);
    memcpy((void *)(uintptr_t)address, page->first, PAGE);
    return PM_LOOP_RAN;
}

void pm_loop_memory_clear(struct pm_loop_memory *memory) {
    for (unsigned i = 0; i < memory->n_pages; i++)
        munmap((void *)(uintptr_t)memory->pages[i].address, PAGE);
    memory->n_pages = memory->setting = 0;
}

void pm_loop_memory_restore(const struct pm_loop_memory *memory) {
    for (unsigned i = 0; i < memory->n_pages; i++)
        if (!memory->pages[i].is_constant)
            memcpy((void *)(uintptr_t)memory->pages[i].address, memory->pages[i].first, PAGE);
}

/* ---- words that are used as addresses -------------------------------------------------------- */

bool pm_loop_memory_patch(struct pm_loop_memory *memory, uint64_t value, bool index) {
    uint64_t word = (value >> 32) - DOUBLE_ONE;
    if (memory->fill != PM_LOOP_FILL_NUMBERS || word >= N_WORDS ||
        memory->n_patches == PM_LOOP_MOST_PATCHES)
        return false;
    int64_t displacement = (int64_t)(value & 0xffffffff) - (int64_t)(FLOAT_ONE | word);
    if (displacement > MOST_DISPLACEMENT || displacement < -MOST_DISPLACEMENT)
        return false;
    for (unsigned i = 0; i < memory->n_patches; i++)
        if (memory->patches[i].word == word)
            return false;
    unsigned n = memory->n_patches;
    memory->patches[memory->n_patches++] = (struct pm_loop_patch){
        (uint32_t)word,
        index ? STEP * (1 + n % (N_PATCHED_STEPS - memory->layout)) : slot_address(memory, n)};
    if (word < FIRST_STATE_WORD && word / PAGE_WORDS < memory->n_pages)
        fill_page(memory, (unsigned)(word / PAGE_WORDS));
    return true;
}

/* ---- registers ------------------------------------------------------------------------------- */

void pm_loop_memory_fill_state(const struct pm_loop_memory *memory, struct pm_loop_state *state) {
    unsigned n_indices = 0;
    for (unsigned r = 0; r < 16; r++) {
        if (memory->is_of_block) {
            state->general[r] = PM_LOOP_BLOCK_VALUE;
            continue;
        }
        if (memory->small >> r & 1) {
            state->general[r] =
                memory->indices >> r & 1 ? STEP * (++n_indices + memory->layout) : STEP;
            continue;
        }
        uint64_t high = memory->layout ? 300 - 7 * r : 16 + 5 * r;
        uint64_t low = memory->layout ? 16 - r : r + 1;
        state->general[r] = (high << 32 | low * APART | OFFSET) + (uint64_t)memory->adjustments[r];
    }
    uint64_t *vectors = &state->vectors[0][0];
    for (uint32_t i = 0; i < 32 * 8; i++)
        vectors[i] = filled_word(memory, FIRST_STATE_WORD + i);
    for (unsigned i = 0; i < memory->n_patches; i++)
        if (memory->patches[i].word >= FIRST_STATE_WORD)
            vectors[memory->patches[i].word - FIRST_STATE_WORD] = memory->patches[i].value;
    state->mxcsr = MXCSR;
    state->flags = 0;
}
