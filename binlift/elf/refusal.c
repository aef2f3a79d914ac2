/* Why a file that can be looked at cannot be instrumented as a whole.  Needs the image only. */
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

struct dynamic_facts {
    bool is_there, is_pie;
    uint64_t strings, n_string_bytes, soname; /* addresses, bytes, offset in the strings */
    bool has_soname;
};

static const Elf64_Phdr *segment_of(const struct pm_image *image, uint32_t type) {
    for (size_t i = 0; i < image->n_segments; i++)
        if (image->segments[i].p_type == type)
            return &image->segments[i];
    return NULL;
}

static struct dynamic_facts read_facts(const struct pm_image *image) {
    struct dynamic_facts facts = {0};
    const Elf64_Phdr *segment = segment_of(image, PT_DYNAMIC);
    if (!segment)
        return facts;
    facts.is_there = true;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment->p_filesz; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        const uint8_t *bytes = pm_image_at(image, segment->p_vaddr + at, sizeof entry);
        if (!bytes)
            break;
        memcpy(&entry, bytes, sizeof entry);
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_STRTAB)
            facts.strings = entry.d_un.d_ptr;
        else if (entry.d_tag == DT_STRSZ)
            facts.n_string_bytes = entry.d_un.d_val;
        else if (entry.d_tag == DT_FLAGS_1)
            facts.is_pie = entry.d_un.d_val & DF_1_PIE;
        else if (entry.d_tag == DT_SONAME) {
            facts.has_soname = true;
            facts.soname = entry.d_un.d_val;
        }
    }
    return facts;
}

/* The name that others need the file by; NULL if it has none or it is damaged. */
static const char *soname(const struct pm_image *image, const struct dynamic_facts *facts) {
    if (!facts->has_soname || facts->soname >= facts->n_string_bytes)
        return NULL;
    const uint8_t *name =
        pm_image_at(image, facts->strings + facts->soname, facts->n_string_bytes - facts->soname);
    return name && memchr(name, 0, facts->n_string_bytes - facts->soname) ? (const char *)name
                                                                          : NULL;
}

/* Dynamic linkers are called ld-linux-x86-64.so.2, ld-musl-x86_64.so.1, ld.so.1 … */
static bool is_dynamic_linker(const char *name) {
    return name && strncmp(name, "ld", 2) == 0 && strchr("-.6", name[2]) && strstr(name, ".so");
}

char *pm_find_refusal(const struct pm_lifted *lifted) {
    const struct pm_image *image = &lifted->image;
    struct dynamic_facts facts = read_facts(image);
    if (!lifted->isa->rewrite)
        return pm_sprintf(
            "%s is a program for %s: it can be looked at, but only x86-64 programs can "
            "be measured",
            image->path, lifted->isa->name);
    if (!facts.is_there || (facts.is_pie && !segment_of(image, PT_INTERP)))
        return pm_sprintf("%s is statically linked, so the measuring library cannot be loaded into "
                          "it; link it dynamically",
                          image->path);
    if (is_dynamic_linker(soname(image, &facts)))
        return pm_sprintf("%s is the dynamic linker, which runs before anything can be measured",
                          image->path);
    return NULL;
}
