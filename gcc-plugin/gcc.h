/* GCC's internal headers in the order in which they have to come, after the standard library's
   (GCC poisons names that those use). */
#ifndef PM_BODY_GCC_H
#define PM_BODY_GCC_H

#include <algorithm>
#include <map>
#include <tuple>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gcc-plugin.h"
#include "plugin-version.h"
#include "config.h"
#include "system.h"
#include "coretypes.h"
#include "backend.h"
#include "target.h"
#include "rtl.h"
#include "tree.h"
#include "gimple.h"
#include "memmodel.h"
#include "tm_p.h"
#include "context.h"
#include "tree-pass.h"
#include "ssa.h"
#include "emit-rtl.h"
#include "gimple-iterator.h"
#include "gimple-walk.h"
#include "gimple-pretty-print.h"
#include "tree-pretty-print.h"
#include "cfgloop.h"
#include "cfghooks.h"
#include "tree-cfg.h"
#include "tree-chrec.h"
#include "tree-scalar-evolution.h"
#include "tree-ssa-loop.h"
#include "tree-ssa-loop-niter.h"
#include "tree-ssa-address.h"
#include "tree-data-ref.h"
#include "tree-vectorizer.h"
#include "tree-dfa.h"
#include "tree-ssanames.h"
#include "alias.h"
#include "builtins.h"
#include "fold-const.h"
#include "internal-fn.h"
#include "rtl-iter.h"
#include "output.h"
#include "cgraph.h"
#include "varasm.h"
#include "function.h"
#include "except.h"
#include "insn-attr.h"
#include "diagnostic.h"
#include "diagnostic-spec.h"
#include "langhooks.h"
#include "opts.h"
#include "toplev.h"

#endif
