/* Lower bounds in the running program: see bounds.h. */
#define _GNU_SOURCE
#include "runtime/shadow_loops/shadow_loops.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <x86intrin.h>

#include "core/bound_abi.h"
#include "core/raw_file.h"
#include "runtime/read_clock.h"
#include "runtime/modules.h"
#include "runtime/notes.h"
#include "runtime/system.h"
#include "runtime/threads.h"

enum { MOST_STARTS = 1024, ROUNDS = 200, NEAR_STEPS = 2048, NEAR_STEP_BYTES = 1 << 20 };

/* What happened to a nest in all threads. */
struct nest {
    const struct pm_bound_file_nest *file;
    uint64_t executions, sampled, over, faults, without_memory;
    uint64_t ticks;         /* of the nest, all executions */
    uint64_t sampled_ticks; /* of it, those with a copy before them … */
    uint64_t copy_ticks;    /* … and of their copies */
};

/* A thread's own shadow loop of a nest. */
struct instance {
    uint8_t *data; /* NULL: not made yet */
    bool failed;   /* there is no memory, or it faulted */
    /* Where the rings of all its branches stood when an execution began: n_replayed each.  When a
       ring is at its end, executions begin anew in turn, so that the outcomes of different
       branches go on belonging together. */
    struct ring_place *starts;
    uint32_t n_starts, turn;
    bool begins_anew;
};

struct ring_place {
    uint64_t word, next;
};

struct pm_bound_thread {
    uint32_t open; /* nest; PM_PROBE_NONE: none */
    bool sampled;
    uint64_t copy_ticks;
    uint64_t begin_ns; /* processor time when the nest began; 0: not taken */
    uint8_t saved[PM_BOUND_MOST_SAVED_BYTES];
    struct instance instances[];
};

static const uint8_t *file; /* NULL: no bounds are measured */
static uint32_t n_nests;
static struct nest *nests;
static uint32_t *nest_of_scope; /* by an event's scope: nest + 2; 1: none; 0: not looked up yet */
static uint64_t empty_copy_ticks, empty_nest_ticks, start_ticks, start_ns;
static bool measures_cost; /* of events */

/* ---- the file -------------------------------------------------------------------------------- */

bool pm_bounds_wanted(void) { return getenv(PM_ENV_BOUND) != NULL; }

static bool lies_within(uint64_t offset, uint64_t bytes, uint64_t all) {
    return offset <= all && bytes <= all - offset;
}

static bool is_sound(const struct pm_bound_file_nest *nest, uint64_t n_bytes) {
    uint64_t replays = nest->first_replay + nest->n_replayed * sizeof(struct pm_bound_replay);
    uint64_t saved_bytes = 0;
    if (!lies_within(nest->data, nest->data_bytes, n_bytes) ||
        !lies_within(nest->code, nest->code_bytes, n_bytes) ||
        !lies_within(nest->relocations, nest->n_relocations * sizeof(struct pm_bound_relocation),
                     n_bytes) ||
        !lies_within(nest->saved, nest->n_saved * sizeof(struct pm_bound_saved), n_bytes) ||
        replays > nest->data_bytes || nest->slot_bytes > nest->data_bytes || nest->every == 0)
        return false;
    const struct pm_bound_saved *saved = (const void *)(file + nest->saved);
    for (uint32_t i = 0; i < nest->n_saved; i++)
        saved_bytes += saved[i].size_bytes;
    return saved_bytes <= PM_BOUND_MOST_SAVED_BYTES;
}

static bool take_file(const uint8_t *bytes, uint64_t n_bytes) {
    const struct pm_bound_file *header = (const void *)bytes;
    if (n_bytes < sizeof *header || memcmp(header->magic, PM_BOUND_MAGIC, sizeof header->magic) ||
        header->version != PM_BOUND_VERSION || header->n_bytes != n_bytes ||
        !lies_within(sizeof *header, (uint64_t)header->n_nests * sizeof(struct pm_bound_file_nest),
                     n_bytes))
        return false;
    const struct pm_bound_file_nest *all = (const void *)(header + 1);
    nests = pm_mmap(header->n_nests * sizeof *nests + 1);
    nest_of_scope = pm_mmap(PM_MAX_SCOPES * sizeof *nest_of_scope);
    if (!nests || !nest_of_scope)
        return false;
    file = bytes;
    for (; n_nests < header->n_nests; n_nests++) {
        nests[n_nests].file = &all[n_nests];
        if (!is_sound(&all[n_nests], n_bytes)) {
            file = NULL;
            return false;
        }
    }
    return true;
}

/* The whole file; NULL: it cannot be read. */
static const void *map_file(const char *path, uint64_t *n_bytes) {
    struct stat status;
    long descriptor = pm_syscall3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
    if (descriptor < 0)
        return NULL;
    long result = pm_syscall3(SYS_fstat, descriptor, (long)&status, 0);
    if (result == 0)
        result = pm_syscall(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    pm_syscall3(SYS_close, descriptor, 0, 0);
    *n_bytes = (uint64_t)status.st_size;
    return result < 0 && result > -4096 ? NULL : (const void *)result;
}

/* ---- copies of a thread ---------------------------------------------------------------------- */

static uint64_t round_to_page(uint64_t bytes) {
    return (bytes + PM_BOUND_PAGE_BYTES - 1) & ~(uint64_t)(PM_BOUND_PAGE_BYTES - 1);
}

static const struct pm_loaded_module *module_of(uint64_t hash) {
    for (uint32_t i = 0; i < pm_n_modules; i++)
        if (pm_modules[i].header.structure_hash == hash && !pm_modules[i].repeats &&
            !pm_modules[i].gone)
            return &pm_modules[i];
    return NULL;
}

/* BYTES of memory at most 2 GiB from ADDRESS; NULL: there is no room. */
static uint8_t *map_near(uint64_t address, uint64_t bytes) {
    address = round_to_page(address);
    for (uint64_t step = 1; step < NEAR_STEPS; step++)
        for (int side = 0; side < 2; side++) {
            uint64_t offset = step * NEAR_STEP_BYTES / 2;
            uint64_t hint = side ? address - offset : address + offset;
            long result = pm_syscall(SYS_mmap, (long)hint, (long)bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (result == (long)hint)
                return (uint8_t *)result;
            if (result >= 0 || result < -4095)
                pm_munmap((void *)result, bytes);
        }
    return NULL;
}

static bool relocate(const struct pm_bound_file_nest *nest, uint64_t load_bias, uint8_t *code) {
    const struct pm_bound_relocation *all = (const void *)(file + nest->relocations);
    for (uint32_t i = 0; i < nest->n_relocations; i++) {
        int64_t distance =
            (int64_t)(load_bias + all[i].target - (uint64_t)(code + all[i].at + all[i].to_end));
        int32_t field = (int32_t)distance;
        if (field != distance || all[i].at + sizeof field > nest->code_bytes)
            return false;
        memcpy(code + all[i].at, &field, sizeof field);
    }
    return true;
}

static struct pm_bound_replay *replays_of(const struct pm_bound_file_nest *nest, uint8_t *data) {
    return (struct pm_bound_replay *)(void *)(data + nest->first_replay);
}

static void make_instance(const struct pm_bound_file_nest *nest, struct instance *instance) {
    const struct pm_loaded_module *module = module_of(nest->module);
    uint64_t data_bytes = round_to_page(nest->data_bytes), bytes = data_bytes + nest->code_bytes;
    uint8_t *memory =
        module ? map_near(module->load_bias + module->header.header_address, bytes) : NULL;
    instance->failed = true;
    if (!memory)
        return;
    memcpy(memory, file + nest->data, nest->data_bytes);
    memcpy(memory + data_bytes, file + nest->code, nest->code_bytes);
    for (uint32_t i = 0; i < nest->n_replayed; i++) {
        replays_of(nest, memory)[i].next += (uint64_t)memory;
        replays_of(nest, memory)[i].first += (uint64_t)memory;
    }
    instance->failed = !relocate(nest, module->load_bias, memory + data_bytes) ||
                       pm_syscall3(SYS_mprotect, (long)(memory + data_bytes),
                                   (long)round_to_page(nest->code_bytes), PROT_READ | PROT_EXEC);
    instance->data = memory;
}

/* ---- time of others ---------------------------------------------------------------------------

   The time-stamp counter goes on while another process has the processor, for milliseconds. Where
   an execution takes long enough for that to be likely, the thread's processor time is taken as
   well, outside of what is timed. */

enum { FIRST_EXECUTIONS = 16, LONG_TICKS = 20000, MOST_OUTSIDE_NS = 20000 };

static bool takes_long(const struct nest *nest) {
    return nest->executions <= FIRST_EXECUTIONS || nest->ticks / nest->executions > LONG_TICKS;
}

static uint64_t processor_ns(void) { return pm_clock_ns(CLOCK_THREAD_CPUTIME_ID); }

/* TICKS, or what SINCE_NS says if that is much less. */
static uint64_t own_ticks(uint64_t ticks, uint64_t since_ns) {
    uint64_t ns = pm_clock_ns(CLOCK_MONOTONIC) - start_ns, all = __rdtsc() - start_ticks;
    uint64_t own_ns = processor_ns() - since_ns + MOST_OUTSIDE_NS;
    if (ns == 0)
        return ticks;
    uint64_t own = (uint64_t)((unsigned __int128)own_ns * all / ns);
    return own < ticks ? own : ticks;
}

/* ---- one execution --------------------------------------------------------------------------- */

/* As machine code numbers them. */
static uint64_t general_register(const struct pm_control_block *block,
                                 const struct pm_bound_frame *frame, uint32_t number) {
    const uint64_t all[16] = {block->saved_rax, frame->rcx, frame->rdx, frame->rbx,
                              block->saved_rsp, frame->rbp, frame->rsi, frame->rdi,
                              frame->r8,        frame->r9,  frame->r10, frame->r11,
                              frame->r12,       frame->r13, frame->r14, frame->r15};
    return all[number % 16];
}

/* Between the program's memory and the thread's buffer. */
static void save(const struct pm_control_block *block, const struct pm_bound_frame *frame,
                 const struct pm_bound_file_nest *nest, uint8_t *buffer, bool restores) {
    const struct pm_bound_saved *all = (const void *)(file + nest->saved);
    for (uint32_t i = 0; i < nest->n_saved; i++) {
        uint8_t *at = (uint8_t *)(general_register(block, frame, all[i].base) +
                                  (uint64_t)all[i].displacement);
        if (restores)
            memcpy(at, buffer, all[i].size_bytes);
        else
            memcpy(buffer, at, all[i].size_bytes);
        buffer += all[i].size_bytes;
    }
}

/* Puts the rings where the next execution begins. */
static void place_rings(const struct pm_bound_file_nest *in, struct instance *instance) {
    const struct pm_bound_replay *images = (const void *)(file + in->data + in->first_replay);
    struct pm_bound_replay *replays = replays_of(in, instance->data);
    uint32_t n = in->n_replayed;
    if (n > 0 && !instance->starts)
        instance->starts = pm_mmap(MOST_STARTS * n * sizeof *instance->starts);
    for (uint32_t i = 0; i < n; i++)
        replays[i].budget = images[i].budget;
    if (n == 0 || !instance->starts)
        return;
    instance->begins_anew |= instance->n_starts == MOST_STARTS;
    uint32_t start =
        instance->begins_anew ? instance->turn++ % instance->n_starts : instance->n_starts++;
    struct ring_place *places = instance->starts + (size_t)start * n;
    for (uint32_t i = 0; i < n; i++)
        if (instance->begins_anew) {
            replays[i].word = places[i].word;
            replays[i].rest = places[i].word & (places[i].word - 1);
            replays[i].next = places[i].next;
        } else {
            places[i] = (struct ring_place){replays[i].word, replays[i].next};
        }
}

/* Was a ring at its end?  Then this execution was not recorded as a whole. */
static void note_end_of_rings(const struct pm_bound_file_nest *in, struct instance *instance) {
    const struct pm_bound_replay *images = (const void *)(file + in->data + in->first_replay);
    bool ended = false;
    for (uint32_t i = 0; i < in->n_replayed; i++)
        ended |= replays_of(in, instance->data)[i].budget < images[i].budget;
    if (!ended || instance->begins_anew)
        return;
    instance->begins_anew = true;
    if (instance->n_starts > 1)
        instance->n_starts--;
}

static void run_copy(struct pm_control_block *block, struct nest *nest, struct instance *instance) {
    const struct pm_bound_frame *frame =
        (const struct pm_bound_frame *)(block->stack - sizeof *frame);
    const struct pm_bound_file_nest *in = nest->file;
    struct pm_bound_thread *thread = block->bound_thread;
    memcpy(instance->data, file + in->data, in->slot_bytes);
    place_rings(in, instance);
    save(block, frame, in, thread->saved, false);
    block->bound_status = 0;
    int error = errno; /* the mathematical library sets it */
    uint64_t since_ns = takes_long(nest) ? processor_ns() : 0;
    uint64_t ticks = pm_bound_execute(frame, instance->data + round_to_page(in->data_bytes), block);
    if (since_ns)
        ticks = own_ticks(ticks, since_ns);
    errno = error;
    save(block, frame, in, thread->saved, true);
    note_end_of_rings(in, instance);
    thread->copy_ticks = ticks > empty_copy_ticks ? ticks - empty_copy_ticks : 0;
    thread->sampled = block->bound_status < 2;
    instance->failed = block->bound_status == 2;
    if (block->bound_status)
        __atomic_fetch_add(block->bound_status == 1 ? &nest->over : &nest->faults, 1,
                           __ATOMIC_RELAXED);
}

static void enter(struct pm_control_block *block, uint32_t number) {
    struct pm_bound_thread *thread = block->bound_thread;
    struct nest *nest = &nests[number];
    struct instance *instance = &thread->instances[number];
    uint64_t before = __atomic_fetch_add(&nest->executions, 1, __ATOMIC_RELAXED);
    thread->open = number;
    thread->sampled = false;
    thread->begin_ns = 0;
    if (before % nest->file->every != 0 || instance->failed)
        return;
    if (!instance->data)
        make_instance(nest->file, instance);
    if (!instance->failed)
        run_copy(block, nest, instance);
    else
        __atomic_fetch_add(&nest->without_memory, 1, __ATOMIC_RELAXED);
    if (thread->sampled && takes_long(nest))
        thread->begin_ns = processor_ns();
}

/* What block->bound_begin and …now say is what the nest took, and an event. */
static void leave(const struct pm_control_block *block, uint64_t begin) {
    struct pm_bound_thread *thread = block->bound_thread;
    struct nest *nest = &nests[thread->open];
    uint64_t ticks = block->bound_now - begin;
    ticks = ticks > empty_nest_ticks ? ticks - empty_nest_ticks : 0;
    if (thread->begin_ns)
        ticks = own_ticks(ticks, thread->begin_ns);
    __atomic_fetch_add(&nest->ticks, ticks, __ATOMIC_RELAXED);
    if (thread->sampled) {
        __atomic_fetch_add(&nest->sampled, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&nest->sampled_ticks, ticks, __ATOMIC_RELAXED);
        __atomic_fetch_add(&nest->copy_ticks, thread->copy_ticks, __ATOMIC_RELAXED);
    }
    thread->open = PM_PROBE_NONE;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The nest of the scope that events call SCOPE; PM_PROBE_NONE. */
static uint32_t find_nest(uint32_t scope) {
    for (uint32_t i = 0; i < pm_n_modules; i++) {
        const struct pm_probe_header *header = &pm_modules[i].header;
        if (scope < header->first_scope || scope - header->first_scope >= header->n_scopes)
            continue;
        for (uint32_t n = 0; n < n_nests; n++)
            if (nests[n].file->module == header->structure_hash &&
                nests[n].file->scope == scope - header->first_scope)
                return n;
    }
    return PM_PROBE_NONE;
}

static uint32_t nest_of(uint32_t scope) {
    if (scope >= PM_MAX_SCOPES)
        return PM_PROBE_NONE;
    if (nest_of_scope[scope] == 0)
        nest_of_scope[scope] = find_nest(scope) + 2; /* PM_PROBE_NONE + 2 is 1 */
    return nest_of_scope[scope] - 2;
}

static struct pm_bound_thread *new_thread(void) {
    struct pm_bound_thread *thread = pm_mmap(sizeof *thread + n_nests * sizeof *thread->instances);
    if (thread)
        thread->open = PM_PROBE_NONE;
    return thread;
}

void pm_bound_event(struct pm_control_block *block) {
    uint32_t scope = pm_event_scope(block->event);
    uint64_t begin = block->bound_begin; /* of the nest: a copy changes it */
    if (measures_cost) {
        uint64_t ticks = block->bound_now - begin;
        if (pm_event_what(block->event) == PM_EVENT_LEAVE && ticks < empty_nest_ticks)
            empty_nest_ticks = ticks;
        return;
    }
    if (!file || block->level > 0 || (block->event & PM_EVENT_ITERATION))
        return;
    if (!block->bound_thread && !(block->bound_thread = new_thread()))
        return;
    uint32_t nest = nest_of(scope), open = block->bound_thread->open;
    switch (pm_event_what(block->event)) {
    case PM_EVENT_ENTER:
        if (nest != PM_PROBE_NONE && open == PM_PROBE_NONE)
            enter(block, nest);
        break;
    case PM_EVENT_LEAVE:
        if (nest != PM_PROBE_NONE && open == nest)
            leave(block, begin);
        break;
    case PM_EVENT_HERE:
        block->bound_thread->open = PM_PROBE_NONE;
        break;
    default:
        break;
    }
}

bool pm_bound_fault(int number, ucontext_t *context) {
    const struct pm_control_block *block = pm_current_block();
    const struct pm_bound_thread *thread = block->bound_thread;
    bool is_fault = number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
    if (!file || !is_fault || !thread || thread->open == PM_PROBE_NONE)
        return false;
    const struct instance *instance = &thread->instances[thread->open];
    const struct pm_bound_file_nest *nest = nests[thread->open].file;
    uint64_t code = (uint64_t)instance->data + round_to_page(nest->data_bytes);
    uint64_t at = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    if (!instance->data || at < code || at - code >= nest->code_bytes)
        return false;
    context->uc_mcontext.gregs[REG_RIP] = (long long)(uint64_t)pm_bound_faulted;
    return true;
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void measure_cost(struct pm_control_block *block) {
    struct pm_bound_frame frame = {.flags = 0x202};
    empty_copy_ticks = empty_nest_ticks = UINT64_MAX;
    block->saved_rsp = block->stack - PM_PRIVATE_STACK_BYTES / 2; /* nobody uses it */
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t ticks = pm_bound_execute(&frame, (const void *)pm_bound_empty, block);
        empty_copy_ticks = ticks < empty_copy_ticks ? ticks : empty_copy_ticks;
        measures_cost = true;
        pm_bound_empty_nest(PM_EVENT_ENTER);
        measures_cost = false;
    }
}

void pm_bounds_begin(void) {
    struct pm_control_block *block = pm_first_block;
    uint64_t n_bytes = 0;
    const void *bytes = map_file(getenv(PM_ENV_BOUND), &n_bytes);
    if (!bytes || pm_recording_begin(bytes, n_bytes) || !take_file(bytes, n_bytes))
        return;
    block->event_path = (uint64_t)pm_bound_path;
    block->bound_done = (uint64_t)pm_bound_done;
    block->bound_over = (uint64_t)pm_bound_over;
    measure_cost(block);
    start_ticks = __rdtsc();
    start_ns = pm_clock_ns(CLOCK_MONOTONIC);
}

void pm_bounds_add(struct pm_raw_builder *builder) {
    pm_recording_add(builder);
    if (!file)
        return;
    pm_raw_section_begin(builder, PM_RAW_BOUNDS);
    pm_raw_add_u64(builder, __rdtsc() - start_ticks);
    pm_raw_add_u64(builder, pm_clock_ns(CLOCK_MONOTONIC) - start_ns);
    for (uint32_t i = 0; i < n_nests; i++) {
        struct pm_raw_bound bound = {.executions = nests[i].executions,
                                     .sampled = nests[i].sampled,
                                     .over = nests[i].over,
                                     .faults = nests[i].faults,
                                     .without_memory = nests[i].without_memory,
                                     .ticks = nests[i].ticks,
                                     .sampled_ticks = nests[i].sampled_ticks,
                                     .copy_ticks = nests[i].copy_ticks};
        pm_raw_add(builder, &bound, sizeof bound);
    }
    pm_raw_section_end(builder);
}
