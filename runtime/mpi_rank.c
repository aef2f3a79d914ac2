/* The rank of this process; see ranks.h. */
#include "runtime/mpi_rank.h"

#include <string.h>
#include <sys/utsname.h>

#include "core/rank_environment.h"
#include "core/raw_file.h"
#include "runtime/raw_output/raw_output.h"
#include "runtime/system.h"

static struct { uint64_t rank, size, library; } own; /* size 0: not known */

void pm_ranks_begin(void) {
    if (own.size == 0 && !pm_rank_of_environment(&own.rank, &own.size, &own.library))
        own.size = 0;
}

PM_EXPORT void pmodel_rank(uint32_t rank, uint32_t size, uint32_t library) {
    if (rank >= size || library < PM_RAW_OPEN_MPI || library > PM_RAW_OTHER_MPI)
        return;
    own.rank = rank;
    own.size = size;
    own.library = library;
}

void pm_ranks_add(struct pm_raw_builder *builder) {
    char host[PM_RAW_HOST_SIZE] = "";
    struct utsname system;
    if (own.size == 0)
        return;
    if (pm_syscall3(SYS_uname, (long)&system, 0, 0) == 0)
        memcpy(host, system.nodename, sizeof host - 1);
    pm_raw_section_begin(builder, PM_RAW_RANK);
    pm_raw_add_u64(builder, own.rank);
    pm_raw_add_u64(builder, own.size);
    pm_raw_add_u64(builder, own.library);
    pm_raw_add(builder, host, sizeof host);
    pm_raw_section_end(builder);
}
