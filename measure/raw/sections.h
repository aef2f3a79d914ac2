/* What the files of this folder share; see raw.h for what others use.  A section is read by a
   function that is false if it is not as it must be. */
#ifndef PM_RAW_SECTIONS_H
#define PM_RAW_SECTIONS_H

#include "measure/raw/raw.h"

/* raw_histograms.c; the first is a histogram with its head, all that is left */
bool pm_raw_take_histogram(const struct pm_raw *raw, struct pm_raw_histogram *histogram,
                           struct pm_reader *in);
bool pm_raw_read_histogram(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_dirty(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_sequential(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_carried(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_samples(struct pm_raw *raw, struct pm_reader *in);

/* raw_references.c */
bool pm_raw_read_strides(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_profile(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_lanes(struct pm_raw *raw, struct pm_reader *in);

/* raw_intervals.c */
bool pm_raw_read_paths(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_intervals(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_interval_histogram(struct pm_raw *raw, struct pm_reader *in);
void pm_raw_free_intervals(struct pm_raw *raw);

/* raw_communication.c */
bool pm_raw_read_communicators(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_requests(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_communication(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_trace(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_call_times(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_call_log(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_mpi_span(struct pm_raw *raw, struct pm_reader *in);
bool pm_raw_read_sockets(struct pm_raw *raw, struct pm_reader *in);
void pm_raw_free_communication(struct pm_raw *raw);

#endif
