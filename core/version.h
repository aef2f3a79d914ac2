/* Which pmodel this is.  The formats of files have numbers of their own. */
#ifndef PM_VERSION_H
#define PM_VERSION_H

#define PM_VERSION "0.2"

#endif
