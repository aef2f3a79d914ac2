/* Machine files: what a mistake in one says, and that the shipped ones are complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/machine/machine.h"

static const char *path_in_tmp(const char *name) {
    static char path[512];
    const char *folder = getenv("TMP");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "/tmp", name);
    return path;
}

static struct pm_machine *read_text(const char *text, struct pm_error *err) {
    const char *path = path_in_tmp("test.conf");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    *err = (struct pm_error){0};
    return pm_machine_read(path, err);
}

/* A file that is right, of which the tests below change one line. */
static const char *const right[] = {
    "title = \"Test machine\"", /* line 1 */
    "clock_mhz = 1000",
    "issue_width = 4",
    "vector_width = 128",
    "out_of_order = true",
    "fma = false",
    "unit a { does = \"everything\" }",
    "unit b { }",
    "cost { of = {fp_add, fp_mult}  latency = 3  units = {a, b} }",
    "cost { of = {fp_div}  latency = 20  repeat = 18  units = {a}  verified = false }",
    "cost { of = {fp_div}  element = 4  latency = 12  units = {a} }",
    "cost { of = {fp_div}  width = 64  latency = 15  units = {a} }",
    "cost { of = {nop}  latency = 0  free = true }",
    "tlb TLB { entries = 64  page = 4KiB  ways = 0  miss_penalty = 30  exposed = 1 }",
    "cache L1 { size = 32KiB  line = 64  ways = 8  latency = 4  miss_penalty = 10  exposed = 0.5",
    "           not_verified = {exposed, ways} }",
    "cache L2 { size = 1MiB  line = 64  ways = 16  latency = 14  miss_penalty = 200  exposed = 1 }",
    NULL};

static struct pm_machine *read_changed(int line, const char *with, struct pm_error *err) {
    char text[8192] = "";
    for (int i = 0; right[i]; i++) {
        strcat(text, i + 1 == line ? with : right[i]);
        strcat(text, "\n");
    }
    return read_text(text, err);
}

static void all_figures_arrive(void **state) {
    (void)state;
    struct pm_error err;
    struct pm_machine *m = read_changed(0, "", &err);
    if (!m)
        fail_msg("%s", err.text);
    assert_string_equal(m->title, "Test machine");
    assert_string_equal(m->name, "test");
    assert_float_equal(m->clock_hz, 1e9, 0);
    assert_int_equal(m->vector_width_bits, 128);
    assert_true(m->out_of_order);
    assert_false(m->has_fma);
    assert_int_equal(m->n_units, 2);
    assert_string_equal(m->units[1].name, "b");
    assert_int_equal(m->n_levels, 3);
    assert_string_equal(m->levels[0].name, "L1"); /* caches stand before TLBs */
    assert_string_equal(m->levels[2].name, "TLB");
    assert_int_equal(m->levels[0].size_bytes, 32768);
    assert_int_equal(m->levels[2].size_bytes, 64 * 4096);
    assert_float_equal(m->levels[0].exposed, 0.5, 0);
    assert_true(m->levels[0].trust.unverified != 0);
    assert_true(m->levels[1].trust.unverified == 0);
    assert_int_equal(m->n_unverified, 3 + 2); /* latency, repeat, units of fp_div; two of L1 */
    pm_machine_free(m);
}

/* What a file without the words means, which is what all files meant that were written before. */
static void a_level_without_policies_has_the_usual_ones(void **state) {
    (void)state;
    struct pm_error err;
    struct pm_machine *m = read_changed(0, "", &err);
    assert_non_null(m);
    for (size_t i = 0; i < m->n_levels; i++) {
        const struct pm_level *level = &m->levels[i];
        assert_int_equal(level->replacement, PM_REPLACEMENT_LRU);
        assert_int_equal(level->indexed, PM_INDEXED_VIRTUAL);
        assert_int_equal(level->inclusion, PM_INCLUSION_NEITHER);
        assert_int_equal(level->write, PM_WRITE_BACK);
        assert_true(level->write_allocate);
    }
    pm_machine_free(m);
}

#define LEVEL_FIGURES "latency = 1 miss_penalty = 1 exposed = 1 "
static const char small_l1[] = "cache L1 { size = 32KiB line = 64 ways = 8 " LEVEL_FIGURES;
static const char large_l2[] = "cache L2 { size = 1MiB line = 64 ways = 16 " LEVEL_FIGURES;

static void each_policy_arrives(void **state) {
    (void)state;
    static const struct {
        const char *words;
        struct pm_level is;
    } cases[] = {
#define DEFAULTS .write_allocate = true
        {"replacement = lru indexed = virtual inclusion = neither write = back "
         "write_allocate = true",
         {DEFAULTS}},
        {"replacement = plru", {DEFAULTS, .replacement = PM_REPLACEMENT_PLRU}},
        {"replacement = fifo", {DEFAULTS, .replacement = PM_REPLACEMENT_FIFO}},
        {"replacement = \"random\"", {DEFAULTS, .replacement = PM_REPLACEMENT_RANDOM}},
        {"unified = true", {DEFAULTS, .unified = true}},
        {"indexed = physical", {DEFAULTS, .indexed = PM_INDEXED_PHYSICAL}},
        {"inclusion = inclusive", {DEFAULTS, .inclusion = PM_INCLUSION_INCLUSIVE}},
        {"inclusion = exclusive", {DEFAULTS, .inclusion = PM_INCLUSION_EXCLUSIVE}},
        {"write = through", {DEFAULTS, .write = PM_WRITE_THROUGH}},
        {"write_allocate = false", {.write_allocate = false}},
#undef DEFAULTS
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[512];
        snprintf(line, sizeof line, "%s%s }", large_l2, cases[i].words);
        struct pm_error err;
        struct pm_machine *m = read_changed(17, line, &err);
        if (!m)
            fail_msg("`%s`: %s", cases[i].words, err.text);
        const struct pm_level *level = &m->levels[1], *is = &cases[i].is;
        assert_string_equal(level->name, "L2");
        assert_int_equal(level->replacement, is->replacement);
        assert_int_equal(level->unified, is->unified);
        assert_int_equal(level->indexed, is->indexed);
        assert_int_equal(level->inclusion, is->inclusion);
        assert_int_equal(level->write, is->write);
        assert_int_equal(level->write_allocate, is->write_allocate);
        pm_machine_free(m);
    }
}

static void words_can_be_unverified_as_figures_can(void **state) {
    (void)state;
    char line[512];
    struct pm_error err;
    snprintf(line, sizeof line,
             "%sreplacement = fifo write = back not_verified = {replacement, size} }", large_l2);
    struct pm_machine *m = read_changed(17, line, &err);
    if (!m)
        fail_msg("%s", err.text);
    assert_int_equal(m->n_unverified, 5 + 2); /* five in the other lines */
    assert_true(m->levels[1].trust.unverified != 0);
    pm_machine_free(m);
    snprintf(line, sizeof line, "%swrite = back verified = false }", large_l2);
    m = read_changed(17, line, &err);
    if (!m)
        fail_msg("%s", err.text);
    assert_int_equal(m->n_unverified, 5 + 6 + 1); /* six figures, one word */
    pm_machine_free(m);
}

/* A size divided by ways and lines, where that is a power of two and where it is not. */
static void sets_follow_from_size_and_ways(void **state) {
    (void)state;
    static const struct {
        const char *line;
        uint64_t sets;
    } cases[] = {
        {"cache L2 { size = 1MiB line = 64 ways = 16 " LEVEL_FIGURES "}", 1024},
        {"cache L2 { size = 60MiB line = 64 ways = 12 " LEVEL_FIGURES "}", 81920},
        {"cache L2 { size = 1MiB line = 64 ways = 16384 " LEVEL_FIGURES "}", 1},
        {"cache L2 { size = 1MiB line = 64 ways = 0 " LEVEL_FIGURES "}", 1},
        {"cache L2 { size = 1MiB line = 64 ways = 1 " LEVEL_FIGURES "}", 16384},
        {"cache L2 { size = 192KiB line = 64 ways = 3 replacement = fifo " LEVEL_FIGURES "}", 1024},
        {"cache L2 { size = 1MiB line = 64 ways = 0 replacement = plru " LEVEL_FIGURES "}", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pm_error err;
        struct pm_machine *m = read_changed(17, cases[i].line, &err);
        if (!m)
            fail_msg("`%s`: %s", cases[i].line, err.text);
        assert_int_equal(pm_level_sets(&m->levels[1]), cases[i].sets);
        pm_machine_free(m);
    }
    struct pm_error err;
    struct pm_machine *m = read_changed(
        14,
        "tlb TLB { entries = 2048 page = 4KiB ways = 16 replacement = plru miss_penalty = 1 "
        "exposed = 1 }",
        &err);
    if (!m)
        fail_msg("%s", err.text);
    assert_int_equal(pm_level_sets(&m->levels[2]), 128);
    assert_int_equal(m->levels[2].replacement, PM_REPLACEMENT_PLRU);
    pm_machine_free(m);
}

/* Each line stands for the L2 cache of the right file, in line 17, but those of TLBs. */
static void levels_that_cannot_be_are_refused(void **state) {
    (void)state;
#define L2(geometry, rest) "cache L2 { " geometry " " LEVEL_FIGURES rest " }"
#define TLB(rest) "tlb TLB { entries = 48 page = 4KiB miss_penalty = 1 exposed = 1 " rest " }"
    static const struct {
        int line;
        const char *with, *told;
    } mistakes[] = {
        {17, L2("size = 1MiB line = 64 ways = 16", "replacement = mru"),
         "test.conf:17: `replacement = mru` is none of lru, plru, fifo, random"},
        {17, L2("size = 1MiB line = 64 ways = 16", "replacement = LRU"),
         "test.conf:17: `replacement = LRU` is none of"},
        {17, L2("size = 1MiB line = 64 ways = 16", "indexed = hashed"),
         "test.conf:17: `indexed = hashed` is none of virtual, physical"},
        {17, L2("size = 1MiB line = 64 ways = 16", "inclusion = both"),
         "test.conf:17: `inclusion = both` is none of neither, inclusive, exclusive"},
        {17, L2("size = 1MiB line = 64 ways = 16", "write = around"),
         "test.conf:17: `write = around` is none of back, through"},
        {17, L2("size = 1MiB line = 64 ways = 16", "write_allocate = 2"),
         "test.conf:17: `write_allocate = 2` is none of false, true"},
        {17, L2("size = 1MiB line = 64 ways = 16", "not_verified = {replacement}"),
         "test.conf:17: `not_verified` names `replacement`, which is no figure given here"},
        {17, L2("size = 1MiB line = 64 ways = 12", ""),
         "test.conf:17: cache `L2`: its 16384 lines are not a whole number of sets of `ways = 12`"},
        {17, L2("size = 64KiB line = 64 ways = 2048", ""),
         "test.conf:17: cache `L2`: its 1024 lines are not a whole number of sets"},
        {17, L2("size = 960KiB line = 64 ways = 12", "replacement = plru"),
         "test.conf:17: cache `L2`: `replacement = plru` needs a power of two of ways, not 12"},
        {17, L2("size = 960KiB line = 64 ways = 0", "replacement = plru"),
         "test.conf:17: cache `L2`: `replacement = plru` needs a power of two of ways, not 15360"},
        {17, L2("size = 1MiB line = 128 ways = 16", "inclusion = exclusive"),
         "test.conf:17: cache `L2`: `inclusion = exclusive` needs the line of `L1` above it, 64 "},
        {14, TLB("ways = 5"),
         "test.conf:14: tlb `TLB`: its 48 entries are not a whole number of sets of `ways = 5`"},
        {14, TLB("ways = 0 replacement = plru"),
         "test.conf:14: tlb `TLB`: `replacement = plru` needs a power of two of ways, not 48"},
        {14, TLB("indexed = virtual"), "test.conf:14: no such option 'indexed'"},
        {14, TLB("inclusion = inclusive"), "test.conf:14: no such option 'inclusion'"},
        {14, TLB("write = back"), "test.conf:14: no such option 'write'"},
        {14, TLB("write_allocate = true"), "test.conf:14: no such option 'write_allocate'"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct pm_error err;
        struct pm_machine *m = read_changed(mistakes[i].line, mistakes[i].with, &err);
        if (m || !strstr(err.text, mistakes[i].told))
            fail_msg("`%s`: got \"%s\", expected \"%s\"", mistakes[i].with, err.text,
                     mistakes[i].told);
        assert_int_equal(err.kind, PM_ERROR_INPUT);
    }
#undef TLB
#undef L2
    static const char *const words[] = {"inclusion = inclusive", "inclusion = exclusive"};
    for (int i = 0; i < 2; i++) {
        char line[512];
        struct pm_error err;
        snprintf(line, sizeof line, "%s%s", small_l1, words[i]);
        assert_null(read_changed(15, line, &err));
        assert_non_null(strstr(err.text, "test.conf:16: cache `L1`: no cache stands above it"));
    }
}

static void the_row_that_fits_best_is_found(void **state) {
    (void)state;
    struct pm_error err;
    struct pm_machine *m = read_changed(0, "", &err);
    assert_non_null(m);
    assert_float_equal(pm_machine_cost(m, PM_OP_FP_MULT, 64, 8)->latency_cycles, 3, 0);
    assert_int_equal(
        pm_machine_cost(m, PM_OP_FP_MULT, 64, 8)->alternatives[0].reservations[0].units, 3);
    assert_float_equal(pm_machine_cost(m, PM_OP_FP_MULT, 64, 8)->repeat_cycles, 1, 0);
    assert_float_equal(pm_machine_cost(m, PM_OP_FP_DIV, 64, 8)->latency_cycles, 15, 0);
    assert_float_equal(pm_machine_cost(m, PM_OP_FP_DIV, 128, 8)->latency_cycles, 20, 0);
    assert_float_equal(pm_machine_cost(m, PM_OP_FP_DIV, 128, 4)->latency_cycles, 12, 0);
    assert_null(pm_machine_cost(m, PM_OP_FP_SQRT, 64, 8));
    assert_int_equal(pm_machine_cost(m, PM_OP_NOP, 0, 0)->n_alternatives, 0);
    pm_machine_free(m);
}

static void a_mistake_is_told_with_its_line(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *with, *told;
    } mistakes[] = {
        {2, "clock_mhz = -1000", "test.conf:2: `clock_mhz = -1000` is out of range"},
        {2, "clock_mhz = fast", "test.conf:2: `clock_mhz = fast` is not a number"},
        {2, "clock_mhz = nan", "test.conf:2: `clock_mhz = nan` is not a number"},
        {2, "clock_mhz = 1e99", "test.conf:2: `clock_mhz = 1e99` is out of range"},
        {2, "clock_mhz 1000", "test.conf:2: "},
        {2, "clok_mhz = 1000", "test.conf:2: no such option 'clok_mhz'"},
        {2, "", "has no `clock_mhz`"},
        {3, "issue_width = 4MiB", "test.conf:3: `issue_width = 4MiB` is not a number"},
        {4, "vector_width = 100", "test.conf:4: `vector_width = 100` must be a power of two"},
        {5, "out_of_order = perhaps", "test.conf:5: "},
        {8, "unit a { }", "test.conf:8: "},
        {9, "cost { of = {fp_ad} latency = 3 units = {a} }",
         "test.conf:9: there is no operation class `fp_ad`"},
        {9, "cost { of = {unknown} latency = 3 units = {a} }",
         "test.conf:9: there is no operation class `unknown`"},
        {9, "cost { of = {fp_add} latency = 3 units = {c} }", "test.conf:9: there is no unit `c`"},
        {9, "cost { of = {fp_add} units = {a} }",
         "test.conf:9: the `cost` section has no `latency`"},
        {9, "cost { latency = 3 units = {a} }", "test.conf:9: the `cost` section has no class"},
        {9, "cost { of = {fp_add} latency = 3 }", "test.conf:9: the `cost` section needs either"},
        {9, "cost { of = {fp_add} latency = 3 units = {a} free = true }",
         "test.conf:9: the `cost` section needs either"},
        {11, "cost { of = {fp_div} latency = 12 units = {a} }",
         "test.conf:11: a second cost of `fp_div`"},
        {11, "cost { of = {fp_div} element = 4 latency = 1 units = {a} not_verified = {size} }",
         "test.conf:11: `not_verified` names `size`"},
        {14, "tlb TLB { entries = 64 page = 4000 miss_penalty = 30 exposed = 1 }",
         "test.conf:14: `page = 4000` must be a power of two"},
        {14, "tlb TLB { entries = 64.5 page = 4KiB miss_penalty = 30 exposed = 1 }",
         "test.conf:14: `entries = 64.5` must be a whole number"},
        {15, "cache L1 { size = 32KiB line = 48 ways = 8 latency = 4 miss_penalty = 1 exposed = 1",
         "test.conf:15: `line = 48` must be a power of two"},
        {15, "cache L1 { size = 32KiB line = 64 ways = 8 latency = 4 miss_penalty = 1 exposed = 2",
         "test.conf:15: `exposed = 2` is out of range"},
        {15, "cache L1 { line = 64 ways = 8 latency = 4 miss_penalty = 1 exposed = 1",
         "test.conf:16: the `cache` section has no `size`"},
        {15, "cache L1 { size = 100 line = 64 ways = 8 latency = 4 miss_penalty = 1 exposed = 1",
         "test.conf:16: cache `L1`: its size is not a multiple of its line"},
        {17, "cache L2 { size = 1KiB line = 64 ways = 1 latency = 4 miss_penalty = 1 exposed = 1 }",
         "test.conf:17: cache `L2` is smaller than `L1`"},
        {17, "cache L2 { size = 1MiB", "test.conf:18: "},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct pm_error err;
        struct pm_machine *m = read_changed(mistakes[i].line, mistakes[i].with, &err);
        if (m || !strstr(err.text, mistakes[i].told))
            fail_msg("`%s`: got \"%s\", expected \"%s\"", mistakes[i].with, err.text,
                     mistakes[i].told);
        assert_int_equal(err.kind, PM_ERROR_INPUT);
    }
}

/* Whatever comments stand above a mistake, and in lists; quotes and words are none. */
static void comments_do_not_move_the_line_of_a_mistake(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line;
    } cases[] = {
        {"# one\nnonsense = 1\n", 2},
        {"#\n## two\n\ntitle = \"a\" # three\nnonsense = 1\n", 5},
        {"// one\nnonsense = 1\n", 2},
        {"/* one */ /* it's two */ nonsense = 1\n", 1},
        {"/* one\n two */\ntitle = \"# none\" # \"one\nnonsense = 1\n", 4},
        {"title = \"# none \\\" # none\"\nnonsense = 1\n", 2},
        {"title = '# none'\nsources = \"// none /* none\"\nnonsense = 1\n", 3},
        {"title = a//none\nsources = http://none # one\nnonsense = 1\n", 3},
        {"not_verified = {window, # one\n  clock_mhz} // one\nnonsense = 1\n", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pm_error err;
        char told[64];
        snprintf(told, sizeof told, "test.conf:%d: no such option 'nonsense'", cases[i].line);
        assert_null(read_text(cases[i].text, &err));
        if (!strstr(err.text, told))
            fail_msg("`%s`: got \"%s\", expected \"%s\"", cases[i].text, err.text, told);
    }
}

static void what_is_no_machine_file_is_refused(void **state) {
    (void)state;
    struct pm_error err = {0};
    assert_null(pm_machine_read(path_in_tmp("absent.conf"), &err));
    assert_non_null(strstr(err.text, "absent.conf"));
    assert_int_equal(err.kind, PM_ERROR_INPUT);
    assert_null(pm_machine_read("/", &err));
    assert_non_null(strstr(err.text, "is a directory"));
    assert_null(pm_machine_read("/proc/self/exe", &err));
    assert_int_equal(err.kind, PM_ERROR_INPUT);
    assert_null(read_text("", &err));
    assert_null(read_text("title = \"x\" }", &err));
    assert_null(read_text("\x01\x02{{{{", &err));
    assert_null(pm_machine_read(path_in_tmp("absent.conf"), NULL));
}

/* Every class has a cost in every width and element size that x86 code has; what a string
   instruction or a system call costs is not known beforehand, so no file may claim it, and what
   stands for a cryptographic instruction on a machine without them is not either. */
static void shipped_files_cover_all_classes(void **state) {
    (void)state;
    static const char *const files[] = {
        "machines/r12000.conf",     "machines/itanium2.conf",   "machines/power3.conf",
        "machines/skylake-sp.conf", "machines/icelake-sp.conf", "machines/sapphire-rapids.conf",
        "machines/zen4.conf",       "machines/zen5.conf",       "machines/neoverse-v1.conf"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct pm_error err = {0};
        struct pm_machine *m = pm_machine_read(files[i], &err);
        if (!m)
            fail_msg("%s", err.text);
        for (int c = PM_OP_UNKNOWN + 1; c < PM_N_OP_CLASSES; c++) {
            if (c == PM_OP_CRYPTO && m->vector_width_bits <= 64)
                continue;
            if (c == PM_OP_STRING || c == PM_OP_SYSTEM || (c == PM_OP_FP_FMA && !m->has_fma))
                continue;
            bool is_vector = pm_op_class_kind(c) == 'f' || c == PM_OP_LOAD_FP ||
                             c == PM_OP_STORE_FP || c == PM_OP_GATHER || c == PM_OP_SCATTER ||
                             c == PM_OP_INT_ADD || c == PM_OP_LOGICAL || c == PM_OP_SHIFT;
            uint32_t widest = is_vector ? m->vector_width_bits : 64;
            uint32_t narrowest = c == PM_OP_GATHER || c == PM_OP_SCATTER ? 128 : 32;
            for (uint32_t width = narrowest; width <= widest; width *= 2)
                for (uint32_t element = 4; element <= 8; element *= 2)
                    if (!pm_machine_cost(m, c, width, element))
                        fail_msg("%s has no cost of %s with %u bits of %u-byte elements", files[i],
                                 pm_op_class_name(c), width, element);
        }
        assert_non_null(strstr(m->sources, "[1]"));
        struct pm_figures figures = pm_machine_figures(m);
        for (size_t k = 0; k < figures.n_figures; k++)
            if (!figures.figures[k].unverified && !figures.figures[k].source)
                fail_msg("%s: %s has neither a source nor a mark", files[i],
                         figures.figures[k].name);
        pm_figures_free(&figures);
        pm_machine_free(m);
    }
}

/* What the paper prints (section 3 and 3.2). */
static void r12000_is_the_machine_of_the_paper(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_machine *m = pm_machine_read("machines/r12000.conf", &err);
    assert_non_null(m);
    assert_float_equal(m->clock_hz, 300e6, 0);
    assert_int_equal(m->n_levels, 3);
    const struct {
        uint64_t size, block;
        double exposed_penalty;
    } levels[] = {{32768, 32, 0.5 * 8}, {8 << 20, 128, 81}, {64 * 32768, 32768, 78}};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(m->levels[i].size_bytes, levels[i].size);
        assert_int_equal(m->levels[i].block_bytes, levels[i].block);
        assert_float_equal(m->levels[i].miss_penalty_cycles * m->levels[i].exposed,
                           levels[i].exposed_penalty, 0);
    }
    assert_float_equal(m->levels[0].latency_cycles, 3, 0);
    assert_float_equal(m->levels[1].latency_cycles, 11, 0);
    pm_machine_free(m);
}

/* The manual of the R10000, sections 4.2, 4.3 and 14.2. */
static void r12000_has_the_caches_of_the_manual(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_machine *m = pm_machine_read("machines/r12000.conf", &err);
    if (!m)
        fail_msg("%s", err.text);
    const struct pm_level *primary = &m->levels[0], *secondary = &m->levels[1];
    assert_int_equal(pm_level_sets(primary), 512);
    assert_int_equal(pm_level_sets(secondary), 32768);
    assert_int_equal(pm_level_sets(&m->levels[2]), 1);
    assert_int_equal(primary->indexed, PM_INDEXED_VIRTUAL);
    assert_int_equal(secondary->indexed, PM_INDEXED_PHYSICAL);
    assert_int_equal(secondary->inclusion, PM_INCLUSION_INCLUSIVE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(m->levels[i].replacement, PM_REPLACEMENT_LRU);
        assert_int_equal(m->levels[i].write, PM_WRITE_BACK);
    }
    assert_int_equal(m->levels[2].replacement, PM_REPLACEMENT_RANDOM);
    pm_machine_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_figures_arrive),
        cmocka_unit_test(a_level_without_policies_has_the_usual_ones),
        cmocka_unit_test(each_policy_arrives),
        cmocka_unit_test(words_can_be_unverified_as_figures_can),
        cmocka_unit_test(sets_follow_from_size_and_ways),
        cmocka_unit_test(levels_that_cannot_be_are_refused),
        cmocka_unit_test(the_row_that_fits_best_is_found),
        cmocka_unit_test(a_mistake_is_told_with_its_line),
        cmocka_unit_test(comments_do_not_move_the_line_of_a_mistake),
        cmocka_unit_test(what_is_no_machine_file_is_refused),
        cmocka_unit_test(shipped_files_cover_all_classes),
        cmocka_unit_test(r12000_is_the_machine_of_the_paper),
        cmocka_unit_test(r12000_has_the_caches_of_the_manual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
