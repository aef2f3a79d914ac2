/* The file: headers, sections and segments, each checked against the file's length, so that no
   later pass reads outside of it.  Read by bytes, because the instrumented copy is written so. */
#include "binlift/lifted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The executable sections may span this many times the file's length, plus a megabyte: the map
   from addresses to instructions is as large as the span. */
enum { SPAN_LIMIT_FILES = 16, SPAN_LIMIT_MORE = 1 << 20 };

static bool within(uint64_t offset, uint64_t size, uint64_t n_bytes) {
    return offset <= n_bytes && size <= n_bytes - offset;
}

static bool read_file(const char *path, struct pm_image *image, struct pm_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pm_fail_errno(err, "cannot open %s", path);
    struct stat status;
    bool ok = fstat(fd, &status) == 0;
    if (!ok)
        pm_fail_errno(err, "cannot read %s", path);
    else if (!S_ISREG(status.st_mode))
        ok =
            pm_fail(err, "%s is not a regular file; give a linked program or shared library", path);
    if (ok) {
        image->n_bytes = (size_t)status.st_size;
        image->bytes = pm_alloc(image->n_bytes, 1);
        size_t done = 0;
        while (ok && done < image->n_bytes) {
            ssize_t n = read(fd, image->bytes + done, image->n_bytes - done);
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                ok = pm_fail_errno(err, "cannot read %s", path);
            else if (n == 0)
                ok = pm_fail(err, "%s became shorter while it was read", path);
            else
                done += (size_t)n;
        }
    }
    close(fd);
    return ok;
}

static bool check_header(struct pm_image *image, struct pm_error *err) {
    const char *path = image->path;
    if (image->n_bytes < SELFMAG || memcmp(image->bytes, ELFMAG, SELFMAG) != 0)
        return pm_fail(err, "%s is not an ELF file; give a linked program or shared library", path);
    if (image->n_bytes < sizeof(Elf64_Ehdr))
        return pm_fail(err, "%s is truncated: it ends within the ELF header", path);
    const Elf64_Ehdr *header = image->header = (const Elf64_Ehdr *)image->bytes;
    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        return pm_fail(err, "%s is a 32-bit ELF file; only 64-bit programs are supported", path);
    if (header->e_ident[EI_DATA] != ELFDATA2LSB)
        return pm_fail(err, "%s is a big-endian ELF file; only little-endian ones are supported",
                       path);
    if (header->e_type == ET_REL)
        return pm_fail(err, "%s is a relocatable object; link it and give the result", path);
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
        return pm_fail(err, "%s is neither a program nor a shared library (ELF type %u)", path,
                       header->e_type);
    if (!pm_isa_of_machine(header->e_machine))
        return pm_fail(err,
                       "%s is for another machine (ELF machine %u); x86-64 and AArch64 are "
                       "supported",
                       path, header->e_machine);
    return true;
}

static bool read_segments(struct pm_image *image, struct pm_error *err) {
    const Elf64_Ehdr *header = image->header;
    image->n_segments = header->e_phnum;
    if (image->n_segments &&
        (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff % 8 ||
         !within(header->e_phoff, image->n_segments * sizeof(Elf64_Phdr), image->n_bytes)))
        return pm_fail(err, "%s is truncated or damaged: its program headers are not in the file",
                       image->path);
    if (image->n_segments)
        image->segments = (const Elf64_Phdr *)(image->bytes + header->e_phoff);
    bool has_interpreter = false;
    for (size_t i = 0; i < image->n_segments; i++) {
        const Elf64_Phdr *segment = &image->segments[i];
        if (segment->p_type == PT_LOAD &&
            !within(segment->p_offset, segment->p_filesz, image->n_bytes))
            return pm_fail(err, "%s is truncated: segment %zu ends beyond the end of the file",
                           image->path, i);
        if (segment->p_type == PT_INTERP)
            has_interpreter = true;
    }
    image->is_pie = header->e_type == ET_DYN;
    image->is_shared = header->e_type == ET_DYN && !has_interpreter;
    return true;
}

static bool read_sections(struct pm_image *image, struct pm_error *err) {
    const Elf64_Ehdr *header = image->header;
    if (!header->e_shoff)
        return true;
    Elf64_Shdr first;
    if (header->e_shentsize != sizeof first ||
        !within(header->e_shoff, sizeof first, image->n_bytes))
        return pm_fail(err, "%s is truncated or damaged: its section headers are not in the file",
                       image->path);
    memcpy(&first, image->bytes + header->e_shoff, sizeof first);
    uint64_t n = header->e_shnum ? header->e_shnum : first.sh_size;
    uint64_t names = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
    if (n > image->n_bytes / sizeof first ||
        !within(header->e_shoff, n * sizeof first, image->n_bytes))
        return pm_fail(err, "%s is truncated or damaged: its section headers are not in the file",
                       image->path);
    for (uint64_t i = 0; i < n; i++) {
        struct pm_section *section = PM_PUSH(image, sections);
        memcpy(&section->header, image->bytes + header->e_shoff + i * sizeof first, sizeof first);
        section->name = "";
        if (section->header.sh_type == SHT_NULL) /* nothing else in it has a meaning */
            section->header = (Elf64_Shdr){0};
        if (section->header.sh_type != SHT_NOBITS &&
            !within(section->header.sh_offset, section->header.sh_size, image->n_bytes))
            return pm_fail(err, "%s is truncated: section %u ends beyond the end of the file",
                           image->path, (unsigned)i);
    }
    if (names >= n || image->sections[names].header.sh_type != SHT_STRTAB)
        return true;
    const Elf64_Shdr *table = &image->sections[names].header;
    const char *text = (const char *)image->bytes + table->sh_offset;
    if (!table->sh_size || text[table->sh_size - 1])
        return pm_fail(err, "%s is damaged: its section names do not end", image->path);
    for (uint64_t i = 0; i < n; i++)
        if (image->sections[i].header.sh_name < table->sh_size)
            image->sections[i].name = text + image->sections[i].header.sh_name;
    return true;
}

static void read_build_id(struct pm_image *image) {
    const struct pm_section *section = pm_image_section(image, ".note.gnu.build-id");
    if (!section || section->header.sh_type != SHT_NOTE ||
        section->header.sh_size < sizeof(Elf64_Nhdr) + 4)
        return;
    Elf64_Nhdr note;
    const uint8_t *bytes = image->bytes + section->header.sh_offset;
    memcpy(&note, bytes, sizeof note);
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
        note.n_descsz > section->header.sh_size - sizeof note - 4)
        return;
    image->build_id_bytes =
        note.n_descsz < sizeof image->build_id ? note.n_descsz : (uint32_t)sizeof image->build_id;
    memcpy(image->build_id, bytes + sizeof note + 4, image->build_id_bytes);
}

bool pm_section_is_code(const struct pm_section *section) {
    const uint64_t both = SHF_ALLOC | SHF_EXECINSTR;
    return (section->header.sh_flags & both) == both && section->header.sh_type == SHT_PROGBITS &&
           section->header.sh_size > 0;
}

/* Half of the addresses that struct pm_insn has room for, so that the target of any branch has. */
#define HIGHEST_ADDRESS ((UINT64_C(1) << (PM_ADDRESS_BITS - 1)) - 1)

static bool check_code(const struct pm_image *image, struct pm_error *err) {
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < image->n_sections; i++) {
        const Elf64_Shdr *header = &image->sections[i].header;
        if (!pm_section_is_code(&image->sections[i]))
            continue;
        if (header->sh_addr > HIGHEST_ADDRESS ||
            header->sh_size > HIGHEST_ADDRESS - header->sh_addr)
            return pm_fail(err,
                           "%s has code at address 0x%llx, where no program of a user is (a kernel "
                           "or a module of one?)",
                           image->path, (unsigned long long)header->sh_addr);
        if (header->sh_addr < low)
            low = header->sh_addr;
        if (header->sh_addr + header->sh_size > high)
            high = header->sh_addr + header->sh_size;
    }
    if (high == 0)
        return pm_fail(err,
                       "%s has no executable section (section headers stripped, or a file of "
                       "debugging information only?)",
                       image->path);
    if (high - low > SPAN_LIMIT_FILES * (uint64_t)image->n_bytes + SPAN_LIMIT_MORE)
        return pm_fail(err, "%s is damaged: its executable sections lie %llu MiB apart",
                       image->path, (unsigned long long)((high - low) >> 20));
    return true;
}

bool pm_read_image(const char *path, struct pm_image *image, struct pm_error *err) {
    *image = (struct pm_image){.path = pm_strdup(path)};
    if (!read_file(path, image, err) || !check_header(image, err) || !read_segments(image, err) ||
        !read_sections(image, err) || !check_code(image, err)) {
        pm_image_release(image);
        return false;
    }
    read_build_id(image);
    return true;
}

void pm_image_release(struct pm_image *image) {
    free(image->path);
    free(image->bytes);
    free(image->sections);
    *image = (struct pm_image){0};
}

const uint8_t *pm_image_at(const struct pm_image *image, uint64_t address, uint64_t n_bytes) {
    for (size_t i = 0; i < image->n_segments; i++) {
        const Elf64_Phdr *segment = &image->segments[i];
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            within(address - segment->p_vaddr, n_bytes, segment->p_filesz))
            return image->bytes + segment->p_offset + (address - segment->p_vaddr);
    }
    return NULL;
}

const uint8_t *pm_image_read(void *image, uint64_t address, uint64_t n_bytes) {
    return pm_image_at(image, address, n_bytes);
}

const struct pm_section *pm_image_section(const struct pm_image *image, const char *name) {
    for (size_t i = 0; i < image->n_sections; i++)
        if (strcmp(image->sections[i].name, name) == 0)
            return &image->sections[i];
    return NULL;
}

const struct pm_section *pm_image_section_at(const struct pm_image *image, uint64_t address) {
    for (size_t i = 0; i < image->n_sections; i++) {
        const Elf64_Shdr *header = &image->sections[i].header;
        bool is_tls_bss = header->sh_type == SHT_NOBITS && (header->sh_flags & SHF_TLS);
        if ((header->sh_flags & SHF_ALLOC) && !is_tls_bss && address >= header->sh_addr &&
            address - header->sh_addr < header->sh_size)
            return &image->sections[i];
    }
    return NULL;
}
