/* What every stage but runtime/ stands on: memory, errors as values, a hash table, indices and
   lists of them, searches in sorted arrays, texts, packed bytes.  runtime/ takes search.h only,
   which is all in the header. */
#ifndef PM_BASE_H
#define PM_BASE_H

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/hash_map.h"
#include "core/base/indices.h"
#include "core/base/packing.h"
#include "core/base/search.h"
#include "core/base/text.h"

#endif
