/* What models, profiles and predictions say of a program, as plain figures for reports: counts and
   their models by scope and class, models that are not to be trusted, predictions beside
   measurements, misses by reuse pattern.  Nothing here is worded or formatted. */
#ifndef PM_ANALYSIS_H
#define PM_ANALYSIS_H

#include "fit/analysis/carried.h"
#include "fit/analysis/counts.h"
#include "fit/analysis/coverage.h"
#include "fit/analysis/explain/explain.h"
#include "fit/analysis/flagged.h"
#include "fit/analysis/hierarchy.h"
#include "fit/analysis/lines.h"
#include "fit/analysis/model_rows.h"
#include "fit/analysis/model_sum.h"
#include "fit/analysis/ranking.h"
#include "fit/analysis/rows.h"
#include "fit/analysis/threads.h"
#include "fit/analysis/predicted_times.h"
#include "fit/analysis/unmatched.h"
#include "fit/analysis/validation.h"

#endif
