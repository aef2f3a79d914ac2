/* What every stage but runtime/ stands on: memory, errors as values, estimates, a hash table,
   indices and lists of them, searches in sorted arrays, texts, packed bytes, bytes read without
   trust. runtime/ takes search.h and reader.h only, which are all in the headers. */
#ifndef PM_BASE_H
#define PM_BASE_H

#include "core/base/alloc.h"
#include "core/base/disjoint_sets.h"
#include "core/base/divisor.h"
#include "core/base/error.h"
#include "core/base/estimate.h"
#include "core/base/hash_map.h"
#include "core/base/indices.h"
#include "core/base/nearest.h"
#include "core/base/packing.h"
#include "core/base/reader.h"
#include "core/base/search.h"
#include "core/base/text.h"

#endif
