/* What compiled a file, from .comment: texts that end with a NUL, one for each compiler and linker
   of each of its parts, each once.  Those of the C library's start files are there too. */
#include <stdlib.h>
#include <string.h>

#include "binlift/elf/elf.h"

/* "GCC: (Debian 12.2.0-14) 12.2.0" of the version that the plugin is for. */
static bool takes_plugin(const char *compiler) {
    enum { VERSION_OF_PLUGIN = 12 };
    const char *version = strrchr(compiler, ' ');
    return strncmp(compiler, "GCC:", 4) == 0 && version && atoi(version) == VERSION_OF_PLUGIN;
}

char *pm_other_compiler(const struct pm_image *image) {
    const struct pm_section *section = pm_image_section(image, ".comment");
    if (!section || section->header.sh_type == SHT_NOBITS)
        return NULL;
    const char *at = (const char *)image->bytes + section->header.sh_offset;
    const char *end = at + section->header.sh_size;
    for (const char *next; (next = memchr(at, 0, (size_t)(end - at))); at = next + 1)
        if (*at && !takes_plugin(at) && strncmp(at, "Linker:", 7) != 0)
            return pm_strdup(at);
    return NULL;
}
