/* Communicators and windows that the process knows, by their handles; see call.h.

   The first time that a handle is seen its members are asked for, which no other process has to
   know of.  One that is freed keeps its entry: the next one that is made so with the same members
   gets its number, so that a program which makes and frees the same again and again needs no more
   memory. */
#include "runtime/mpi/call.h"

#include <string.h>

#include "runtime/arena.h"

enum { N_SLOTS = 1 << 10 };

static struct {
    int lock;
    struct pm_arena arena;
    struct pm_mpi_comm *slots[N_SLOTS], *free;
    struct window {
        uint64_t handle;
        struct pm_mpi_comm *comm; /* NULL: forgotten */
        struct window *next;
    } * windows[N_SLOTS];
    MPI_Group world;
    int world_rank;
} known;

static uint64_t bits_of(const void *handle, size_t bytes) {
    uint64_t bits = 0;
    memcpy(&bits, handle, bytes);
    return bits;
}

static unsigned slot_of(uint64_t handle) {
    return (unsigned)(handle * UINT64_C(0x9e3779b97f4a7c15) >> 54) % N_SLOTS;
}

static void *take(size_t bytes) { return pm_arena_take(&known.arena, (bytes + 15) & ~7ul); }

/* ---- groups ---------------------------------------------------------------------------------- */

struct members { /* memory of pm_mmap */
    int32_t *ranks;
    uint32_t n;
    size_t bytes;
};

/* The ranks of the world that are in GROUP, which is freed; false: there is no memory. */
static bool read_group(MPI_Group group, struct members *members) {
    int n = 0;
    bool ok = PMPI_Group_size(group, &n) == MPI_SUCCESS;
    members->bytes = (size_t)(n + 1) * sizeof(int32_t);
    members->ranks = pm_mmap(members->bytes);
    int *ranks = pm_mmap(members->bytes);
    ok = ok && ranks && members->ranks;
    for (int i = 0; ok && i < n; i++)
        ranks[i] = i;
    ok = ok && (n == 0 || PMPI_Group_translate_ranks(group, n, ranks, known.world,
                                                     members->ranks) == MPI_SUCCESS);
    for (int i = 0; ok && i < n; i++)
        if (members->ranks[i] == MPI_UNDEFINED)
            members->ranks[i] = PM_UNKNOWN_PARTNER;
    members->n = ok ? (uint32_t)n : 0;
    pm_munmap(ranks, members->bytes);
    PMPI_Group_free(&group);
    return ok;
}

/* ---- entries --------------------------------------------------------------------------------- */

static bool are_members(const int32_t *ranks, uint32_t n, const struct members *members) {
    return n == members->n && (n == 0 || memcmp(ranks, members->ranks, n * sizeof *ranks) == 0);
}

/* One that was freed, was made in the same way and had these members. */
static struct pm_mpi_comm *take_freed(uint16_t made_by, const struct members *members,
                                      const struct members *remote) {
    for (struct pm_mpi_comm **at = &known.free; *at; at = &(*at)->next)
        if ((*at)->made_by == made_by && are_members((*at)->members, (*at)->n_members, members) &&
            are_members((*at)->remote, (*at)->n_remote, remote)) {
            struct pm_mpi_comm *freed = *at;
            *at = freed->next;
            return freed;
        }
    return NULL;
}

static bool keep_members(int32_t **ranks, uint32_t *n, const struct members *members) {
    *n = members->n;
    *ranks = take(members->n * sizeof **ranks);
    if (*ranks && members->n > 0)
        memcpy(*ranks, members->ranks, members->n * sizeof **ranks);
    return *ranks;
}

static struct pm_mpi_comm *new_entry(uint16_t made_by, const struct members *members,
                                     const struct members *remote) {
    struct pm_mpi_comm *comm = take(sizeof *comm);
    if (!comm || !keep_members(&comm->members, &comm->n_members, members) ||
        !keep_members(&comm->remote, &comm->n_remote, remote))
        return NULL;
    comm->made_by = made_by;
    comm->number = pm_mpi_runtime.communicator(made_by, comm->members, comm->n_members,
                                               comm->remote, comm->n_remote);
    return comm;
}

static bool read_members(MPI_Comm handle, bool is_inter, struct members *members,
                         struct members *remote) {
    MPI_Group group;
    return PMPI_Comm_group(handle, &group) == MPI_SUCCESS && read_group(group, members) &&
           (!is_inter ||
            (PMPI_Comm_remote_group(handle, &group) == MPI_SUCCESS && read_group(group, remote)));
}

static struct pm_mpi_comm *add(MPI_Comm handle, uint16_t made_by) {
    struct members members = {0}, remote = {0};
    struct pm_mpi_comm *comm = NULL;
    int is_inter = 0, rank;
    if (PMPI_Comm_test_inter(handle, &is_inter) == MPI_SUCCESS &&
        PMPI_Comm_rank(handle, &rank) == MPI_SUCCESS &&
        read_members(handle, is_inter, &members, &remote)) {
        comm = take_freed(made_by, &members, &remote);
        comm = comm ? comm : new_entry(made_by, &members, &remote);
    }
    pm_munmap(members.ranks, members.bytes);
    pm_munmap(remote.ranks, remote.bytes);
    if (!comm)
        return NULL;
    comm->rank = rank;
    comm->is_inter = is_inter;
    comm->has_neighbours = false;
    comm->handle = bits_of(&handle, sizeof handle);
    comm->next = known.slots[slot_of(comm->handle)];
    known.slots[slot_of(comm->handle)] = comm;
    return comm;
}

static struct pm_mpi_comm *find(MPI_Comm handle) {
    uint64_t bits = bits_of(&handle, sizeof handle);
    struct pm_mpi_comm *comm = known.slots[slot_of(bits)];
    while (comm && comm->handle != bits)
        comm = comm->next;
    return comm;
}

struct pm_mpi_comm *pm_mpi_comm(MPI_Comm handle) {
    if (handle == MPI_COMM_NULL)
        return NULL;
    pm_mpi_lock(&known.lock);
    struct pm_mpi_comm *comm = find(handle);
    if (!comm)
        comm = add(handle, PM_N_OPERATIONS);
    pm_mpi_unlock(&known.lock);
    return comm;
}

void pm_mpi_new_comm(MPI_Comm handle, uint16_t made_by) {
    if (handle == MPI_COMM_NULL)
        return;
    pm_mpi_lock(&known.lock);
    if (!find(handle))
        add(handle, made_by);
    pm_mpi_unlock(&known.lock);
}

void pm_mpi_forget_comm(MPI_Comm handle) {
    uint64_t bits = bits_of(&handle, sizeof handle);
    pm_mpi_lock(&known.lock);
    struct pm_mpi_comm **at = &known.slots[slot_of(bits)];
    while (*at && (*at)->handle != bits)
        at = &(*at)->next;
    if (*at) {
        struct pm_mpi_comm *comm = *at;
        *at = comm->next;
        comm->next = known.free;
        known.free = comm;
    }
    pm_mpi_unlock(&known.lock);
}

void pm_mpi_begin_world(void) {
    PMPI_Comm_group(MPI_COMM_WORLD, &known.world);
    PMPI_Comm_rank(MPI_COMM_WORLD, &known.world_rank);
    pm_mpi_comm(MPI_COMM_WORLD);
}

int32_t pm_mpi_world_rank(const struct pm_mpi_comm *comm, int rank) {
    if (rank == PM_MPI_NO_RANK)
        return PM_NO_PARTNER;
    if (rank == MPI_PROC_NULL)
        return PM_NULL_PARTNER;
    if (rank == MPI_ANY_SOURCE)
        return PM_ANY_SOURCE;
    if (rank == MPI_ROOT)
        return known.world_rank;
    if (!comm || rank < 0)
        return PM_UNKNOWN_PARTNER;
    const int32_t *members = comm->is_inter ? comm->remote : comm->members;
    uint32_t n = comm->is_inter ? comm->n_remote : comm->n_members;
    return (uint32_t)rank < n ? members[rank] : PM_UNKNOWN_PARTNER;
}

/* ---- topologies ------------------------------------------------------------------------------ */

static bool room_for_neighbours(struct pm_mpi_comm *comm, int n_in, int n_out) {
    comm->n_in = n_in;
    comm->n_out = n_out;
    comm->in = take((size_t)n_in * sizeof *comm->in);
    comm->out = take((size_t)n_out * sizeof *comm->out);
    return comm->in && comm->out;
}

static bool read_cart(MPI_Comm handle, struct pm_mpi_comm *comm) {
    int n = 0;
    if (PMPI_Cartdim_get(handle, &n) != MPI_SUCCESS || !room_for_neighbours(comm, 2 * n, 2 * n))
        return false;
    for (int i = 0; i < n; i++)
        PMPI_Cart_shift(handle, i, 1, &comm->in[2 * i], &comm->in[2 * i + 1]);
    memcpy(comm->out, comm->in, 2 * (size_t)n * sizeof *comm->in);
    return true;
}

static bool read_graph(MPI_Comm handle, struct pm_mpi_comm *comm) {
    int n = 0;
    if (PMPI_Graph_neighbors_count(handle, comm->rank, &n) != MPI_SUCCESS ||
        !room_for_neighbours(comm, n, n))
        return false;
    memcpy(comm->out, comm->in, (size_t)n * sizeof *comm->in);
    return PMPI_Graph_neighbors(handle, comm->rank, n, comm->in) == MPI_SUCCESS &&
           PMPI_Graph_neighbors(handle, comm->rank, n, comm->out) == MPI_SUCCESS;
}

static bool read_dist_graph(MPI_Comm handle, struct pm_mpi_comm *comm) {
    int n_in = 0, n_out = 0, is_weighted;
    if (PMPI_Dist_graph_neighbors_count(handle, &n_in, &n_out, &is_weighted) != MPI_SUCCESS ||
        !room_for_neighbours(comm, n_in, n_out))
        return false;
    size_t bytes = (size_t)(n_in + n_out + 1) * sizeof(int);
    int *weights = pm_mmap(bytes);
    bool ok = weights && PMPI_Dist_graph_neighbors(handle, n_in, comm->in, weights, n_out,
                                                   comm->out, weights + n_in) == MPI_SUCCESS;
    pm_munmap(weights, bytes);
    return ok;
}

bool pm_mpi_neighbours(MPI_Comm handle, struct pm_mpi_comm *comm) {
    int topology = MPI_UNDEFINED;
    pm_mpi_lock(&known.lock);
    bool ok = comm->has_neighbours;
    if (!ok && PMPI_Topo_test(handle, &topology) == MPI_SUCCESS)
        ok = comm->has_neighbours = topology == MPI_CART         ? read_cart(handle, comm)
                                    : topology == MPI_GRAPH      ? read_graph(handle, comm)
                                    : topology == MPI_DIST_GRAPH ? read_dist_graph(handle, comm)
                                                                 : false;
    pm_mpi_unlock(&known.lock);
    return ok;
}

/* ---- windows --------------------------------------------------------------------------------- */

static struct window **find_window(MPI_Win handle) {
    uint64_t bits = bits_of(&handle, sizeof handle);
    struct window **at = &known.windows[slot_of(bits)];
    while (*at && (*at)->handle != bits)
        at = &(*at)->next;
    return at;
}

void pm_mpi_new_window(MPI_Win win, MPI_Comm handle) {
    struct pm_mpi_comm *comm = pm_mpi_comm(handle);
    pm_mpi_lock(&known.lock);
    struct window **at = find_window(win);
    if (!*at && (*at = take(sizeof **at)))
        (*at)->handle = bits_of(&win, sizeof win);
    if (*at)
        (*at)->comm = comm;
    pm_mpi_unlock(&known.lock);
}

void pm_mpi_forget_window(MPI_Win win) {
    pm_mpi_lock(&known.lock);
    struct window **at = find_window(win);
    if (*at)
        (*at)->comm = NULL;
    pm_mpi_unlock(&known.lock);
}

struct pm_mpi_comm *pm_mpi_comm_of_window(MPI_Win win) {
    pm_mpi_lock(&known.lock);
    struct window **at = find_window(win);
    struct pm_mpi_comm *comm = *at ? (*at)->comm : NULL;
    pm_mpi_unlock(&known.lock);
    return comm;
}
