/* The code of a path: the bytes of its basic blocks, as they stand in the file. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "binlift/elf/elf.h"
#include "sched/paths/paths.h"

struct pm_code_files {
    const struct pm_structure *structure;
    struct pm_image **images; /* of the modules; NULL: none could be read */
};

struct pm_code_files *pm_code_files_open(const struct pm_structure *structure) {
    struct pm_code_files *files = pm_alloc(1, sizeof *files);
    files->structure = structure;
    files->images = pm_alloc(structure->n_modules, sizeof *files->images);
    for (size_t m = 0; m < structure->n_modules; m++) {
        struct pm_error err = {0};
        struct pm_image *image = pm_alloc(1, sizeof *image);
        bool is_same =
            structure->modules[m].path && pm_read_image(structure->modules[m].path, image, &err);
        if (is_same &&
            (image->build_id_bytes != structure->modules[m].build_id_bytes ||
             memcmp(image->build_id, structure->modules[m].build_id, image->build_id_bytes) != 0)) {
            pm_image_release(image);
            is_same = false;
        }
        if (is_same)
            files->images[m] = image;
        else
            free(image);
    }
    return files;
}

void pm_code_files_close(struct pm_code_files *files) {
    for (size_t m = 0; files && m < files->structure->n_modules; m++)
        if (files->images[m]) {
            pm_image_release(files->images[m]);
            free(files->images[m]);
        }
    if (files)
        free(files->images);
    free(files);
}

const uint8_t *pm_block_code(const struct pm_code_files *files, uint32_t block) {
    const struct pm_block *of = &files->structure->blocks[block];
    const struct pm_image *image = files->images[files->structure->routines[of->routine].module];
    return image && of->size_bytes ? pm_image_at(image, of->address, of->size_bytes) : NULL;
}

bool pm_path_code_read(const struct pm_code_files *files, const struct pm_path_step *path,
                       size_t n_steps, struct pm_path_code *code) {
    *code = (struct pm_path_code){0};
    for (size_t s = 0; s < n_steps; s++) {
        if (path[s].block == PM_NONE)
            continue;
        uint32_t size = files->structure->blocks[path[s].block].size_bytes;
        const uint8_t *bytes = pm_block_code(files, path[s].block);
        if (!bytes) {
            free(code->bytes);
            *code = (struct pm_path_code){0};
            return false;
        }
        code->bytes = pm_realloc(code->bytes, code->n_bytes + size, 1);
        memcpy(code->bytes + code->n_bytes, bytes, size);
        code->n_bytes += size;
    }
    code->hash = XXH64(code->bytes, code->n_bytes, 0);
    return true;
}
