/* `pmodel run --build`: a program that is built anew for each size, because its arrays have fixed
   extents, and the results of its builds in the numbers of one of them. */
#ifndef PM_RUN_BUILD_H
#define PM_RUN_BUILD_H

#include "cmd/run_ingest.h"
#include "cmd/run_request.h"
#include "core/builds/builds.h"
#include "core/parameters.h"
#include "core/base/base.h"

/* Runs REQUEST->build with `{NAME}` replaced in a shell, in the current folder.  What it writes
   goes to standard error.  False with its status and the last that it wrote, if it fails. */
bool pm_run_build(const struct pm_run_request *request, const struct pm_parameters *at,
                  struct pm_error *err);

/* Brings INGESTED, measured with FROM, into the numbers of TO; DIFFERENCES gets what is not the
   same, and INGESTED a note, if accesses were lost by that. */
void pm_run_match(const struct pm_structure *from, const struct pm_structure *to,
                  struct pm_ingested *ingested, struct pm_build_differences *differences);

#endif
