/* Machine files that say more than units, costs and levels: reservation tables, memory,
   prefetchers, curves, intervals; files that include others; figures that are set; and that what is
   written reads the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
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

static void put_file(const char *name, const char *text) {
    FILE *file = fopen(path_in_tmp(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static struct pm_machine *read_with(const char *name, const struct pm_machine_options *options,
                                    struct pm_error *err) {
    *err = (struct pm_error){0};
    return pm_machine_read_with(path_in_tmp(name), options, err);
}

static struct pm_machine *read_text(const char *text, struct pm_error *err) {
    static const struct pm_machine_options none;
    put_file("words.conf", text);
    return read_with("words.conf", &none, err);
}

static struct pm_machine *must_read(const char *text) {
    struct pm_error err;
    struct pm_machine *m = read_text(text, &err);
    if (!m)
        fail_msg("%s", err.text);
    return m;
}

#define TOP                                                                                        \
    "title = \"Whole\"\nsources = \"[1] a book\"\nclock_mhz = 2000\nissue_width = 4\n"             \
    "vector_width = 256\nout_of_order = true\nfma = true\n"
#define UNITS "unit a { does = \"all\" }\nunit b {}\nunit c {}\n"
#define COST "cost { of = {fp_add} latency = 3 units = {a, b, c} source = \"[1]\" }\n"
#define CACHE                                                                                      \
    "cache L1 { size = 32KiB line = 64 ways = 8 latency = 4 miss_penalty = 10 exposed = 0.5 }\n"
#define WHOLE TOP UNITS COST CACHE

/* A file with every word that there is. */
static const char everything[] = TOP
    "isa = \"x86-64\"\ncores = 8\nretire_width = 6\nwindow = 300\nfuses_memory = true\n"
    "fuses_branch = {int_compare, int_add}\neliminates = {moves, zeroing}\n"
    "mispredict_penalty = 13\nstore_forward_latency = \"5 (4.5 to 5.5)\"\npage = 4KiB\n"
    "page_walkers = 2\nsource = \"[1] chapter 2\"\n" UNITS
    "cost { of = {fp_mult, fp_fma} width = 256 element = 8 latency = \"4.1 (4 to 4.3)\""
    " uses = {\"2*a + b|c:3@1\", \"c:1.5\"} slots = 2 domain = \"far away\" }\n"
    "cost { of = {nop} latency = 0 free = true }\n"
    "cost { mnemonic = {vpmullq, \"(v)psadbw\"} latency = 15 units = {b} repeat = 2 operations = 3 "
    "}\n"
    "bypass { from = {fp_add, \"far away\"} to = {fp_mult} latency = 2 source = \"[1]\" }\n"
    "bypass { from = {fp_mult} to = {\"far away\"} extra = -1 not_verified = {extra} }\n"
    "foreign push { adds = {fp_add} }\nforeign flags { adds = {} }\n" CACHE
    "cache L2 { size = 1MiB line = 64 ways = 16 latency = 14 miss_penalty = 200 exposed = 0.4\n"
    "           read_bandwidth = 64 write_bandwidth = 32 misses_in_flight = 48 shared_by = 2\n"
    "           replacement = fifo unified = true indexed = physical inclusion = exclusive\n"
    "           write = through write_allocate = false not_verified = {exposed, replacement}\n"
    "           serves = {\"64KiB: 1\", \"256KiB:0.75 (0.7 to 0.8)\", \"1000000: 0.125\"} }\n"
    "tlb DTLB { entries = 64 page = 4KiB ways = 4 miss_penalty = 7 exposed = 1 }\n"
    "tlb DTLB2M { entries = 32 page = 2MiB miss_penalty = 7 exposed = 1 }\n"
    "memory { latency = 300 latency_dirty = 350 back_to_back = 320 restart = 290\n"
    "         misses_in_flight = 4 bandwidth_gbs = 12.5 bandwidth_all_gbs = 160 }\n"
    "prefetcher stream { level = L2 min_stride = 64 max_stride = 2KiB streams = 16\n"
    "                    crosses_pages = true down = true }\n"
    "curve chase { of = load_latency stride = 0 threads = 1 page = 4KiB\n"
    "    working_set = {1024, 2048, 4096} value = {4, 4.5, 5.125} low = {3, 4, 5}\n"
    "    high = {5, 5, 6} hits L1 { share = {1, 0.99, 0.5} } hits L2 { share = {1, 1, 1} } }\n"
    "curve bare { of = read_bandwidth working_set = {1, 2} value = {1, 2} }\n" COST;

static void every_word_arrives(void **state) {
    (void)state;
    struct pm_machine *m = must_read(everything);
    assert_string_equal(m->isa, "x86-64");
    assert_int_equal(m->cores, 8);
    assert_float_equal(m->retire_width, 6, 0);
    assert_int_equal(m->fuses_branch, UINT64_C(1) << PM_OP_INT_COMPARE | UINT64_C(1)
                                                                             << PM_OP_INT_ADD);
    assert_int_equal(m->eliminates, PM_ELIMINATES_MOVES | PM_ELIMINATES_ZEROING);
    assert_float_equal(m->mispredict_cycles, 13, 0);
    assert_float_equal(m->store_forward_cycles, 5, 0);
    assert_int_equal(m->page_walkers, 2);
    const struct pm_cost *row = pm_machine_cost(m, PM_OP_FP_FMA, 256, 8);
    assert_float_equal(row->latency_cycles, 4.1, 0);
    assert_int_equal(row->n_alternatives, 2);
    assert_int_equal(row->alternatives[0].n_reservations, 2);
    assert_int_equal(row->alternatives[0].reservations[0].count, 2);
    assert_int_equal(row->alternatives[0].reservations[1].units, 6);
    assert_float_equal(row->alternatives[0].reservations[1].busy_cycles, 3, 0);
    assert_float_equal(row->alternatives[0].reservations[1].start_cycle, 1, 0);
    assert_float_equal(pm_cost_slots(row), 2, 0);
    assert_string_equal(row->domain, "far away");
    row = pm_machine_mnemonic_cost(m, "x86-64", "vpsadbw", 256, 1);
    assert_float_equal(row->latency_cycles, 15, 0);
    assert_float_equal(pm_cost_throughput(row), 6, 0);
    assert_ptr_not_equal(pm_machine_mnemonic_cost(m, "x86-64", "psadbw", 128, 1), row);
    assert_float_equal(pm_machine_mnemonic_cost(m, "x86-64", "psadbw", 128, 1)->latency_cycles, 15,
                       0);
    assert_null(pm_machine_mnemonic_cost(m, "aarch64", "vpsadbw", 256, 1));
    assert_null(pm_machine_mnemonic_cost(m, "x86-64", "vpsadb", 256, 1));
    assert_int_equal(m->foreign[PM_FOREIGN_PUSH].n_adds, 1);
    assert_true(m->foreign[PM_FOREIGN_FLAGS].given);
    assert_int_equal(m->n_levels, 3); /* the TLB of other pages is not in use */
    assert_int_equal(m->n_all_levels, 4);
    assert_int_equal(m->levels[1].misses_in_flight, 48);
    const struct pm_response *serves = &m->levels[1].serves;
    assert_int_equal(serves->n_points, 3);
    assert_float_equal(serves->points[1].distance_bytes, 262144, 0);
    assert_float_equal(serves->points[1].share, 0.75, 0);
    assert_float_equal(serves->points[1].low, 0.7, 0);
    assert_float_equal(serves->points[1].high, 0.8, 0);
    assert_float_equal(serves->points[2].low, 0.125, 0);
    assert_int_equal(m->levels[0].serves.n_points, 0);
    assert_float_equal(m->levels[1].write_bandwidth, 32, 0);
    assert_float_equal(m->memory.latency_dirty_cycles, 350, 0);
    assert_float_equal(m->memory_bandwidth_bytes_per_cycle, 12.5 / 2, 1e-12);
    assert_int_equal(m->prefetchers[0].max_stride_bytes, 2048);
    assert_true(m->prefetchers[0].down);
    assert_int_equal(m->n_curves, 2);
    assert_float_equal(m->curves[0].value[2], 5.125, 0);
    assert_float_equal(m->curves[0].hits[0].share[1], 0.99, 0);
    assert_null(m->curves[1].low);
    assert_int_equal(m->n_unverified, 1 + 2);
    pm_machine_free(m);
}

static char *written(const struct pm_machine *m) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    pm_machine_write(file, m);
    fclose(file);
    return text;
}

/* The text is the same the second time, but for the line that names the file. */
static void must_read_the_same(const struct pm_machine *m) {
    char *first = written(m);
    struct pm_machine *again = must_read(first);
    char *second = written(again);
    assert_string_equal(strchr(first, '\n'), strchr(second, '\n'));
    assert_int_equal(m->n_unverified, again->n_unverified);
    pm_machine_free(again);
    free(first);
    free(second);
}

static void what_is_written_reads_the_same(void **state) {
    (void)state;
    struct pm_machine *m = must_read(everything);
    must_read_the_same(m);
    pm_machine_free(m);
    static const char *const shipped[] = {"r12000",          "itanium2", "power3",
                                          "sapphire-rapids", "zen5",     "neoverse-v1"};
    for (size_t i = 0; i < sizeof shipped / sizeof shipped[0]; i++) {
        char path[64];
        struct pm_error err = {0};
        snprintf(path, sizeof path, "machines/%s.conf", shipped[i]);
        m = pm_machine_read(path, &err);
        if (!m)
            fail_msg("%s", err.text);
        must_read_the_same(m);
        pm_machine_free(m);
    }
}

static void an_interval_stays_with_its_figure(void **state) {
    (void)state;
    struct pm_machine *m = must_read(everything);
    size_t n_found = 0;
    for (size_t i = 0; i < m->n_intervals; i++)
        if (strcmp(m->intervals[i].name, "store_forward_latency") == 0) {
            assert_float_equal(m->intervals[i].low, 4.5, 0);
            assert_float_equal(m->intervals[i].high, 5.5, 0);
            n_found++;
        }
    assert_int_equal(n_found, 1);
    pm_machine_free(m);
}

/* ---- throughput ------------------------------------------------------------------------------ */

static void throughput_follows_from_the_units(void **state) {
    (void)state;
    static const struct {
        const char *uses;
        double cycles;
    } cases[] = {
        {"units = {a, b}", 0.5},
        {"units = {a, b} repeat = 4", 2},
        {"units = {a} operations = 3", 3},
        {"free = true", 0},
        {"uses = {\"a + b|c\"}", 1},
        {"uses = {\"3*a|b|c\"}", 1},
        {"uses = {\"2*a|b + a\"}", 1.5},            /* three on a and b */
        {"uses = {\"a + b\", \"c\"}", 0.5},         /* one of each way in a cycle */
        {"uses = {\"a:4\", \"b:4\"}", 2},           /* the same as any of two for 4 */
        {"uses = {\"a:2 + b\", \"a + b:2\"}", 1.5}, /* three on a and b, whichever way */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[4096];
        snprintf(text, sizeof text, "%scost { of = {shuffle} latency = 1 %s }\n", WHOLE,
                 cases[i].uses);
        struct pm_machine *m = must_read(text);
        double cycles = pm_cost_throughput(pm_machine_cost(m, PM_OP_SHUFFLE, 64, 8));
        if (fabs(cycles - cases[i].cycles) > 1e-12)
            fail_msg("%s: %g cycles, not %g", cases[i].uses, cycles, cases[i].cycles);
        pm_machine_free(m);
    }
}

/* ---- files that include others --------------------------------------------------------------- */

static void a_file_changes_what_it_includes(void **state) {
    (void)state;
    static const struct pm_machine_options none;
    struct pm_error err;
    put_file("base.conf",
             WHOLE "cost { of = {fp_mult} latency = 5 units = {a, b, c} }\nmemory { latency "
                   "= 300 bandwidth_gbs = 10 source = \"[1]\" }\n");
    put_file("derived.conf", "# a comment\ninclude = base # and another\ntitle = \"Derived\"\n"
                             "sources = \"[1] a letter\"\n"
                             "clock_mhz = 3000\nunit d {}\n"
                             "cost { of = {fp_add} latency = 2 units = {d} source = \"[1]\" }\n"
                             "cache L1 { size = 64KiB source = \"[1]\" not_verified = {ways} }\n"
                             "memory { latency = 250 source = \"[1] page 3\" }\n");
    struct pm_machine *m = read_with("derived.conf", &none, &err);
    if (!m)
        fail_msg("%s", err.text);
    assert_string_equal(m->title, "Derived");
    assert_string_equal(m->includes, "base");
    assert_string_equal(m->sources, "[1] a letter; base: [1] a book");
    assert_float_equal(m->clock_hz, 3e9, 0);
    assert_float_equal(m->issue_width, 4, 0);
    assert_float_equal(pm_machine_cost(m, PM_OP_FP_ADD, 64, 8)->latency_cycles, 2, 0);
    assert_float_equal(pm_machine_cost(m, PM_OP_FP_MULT, 64, 8)->latency_cycles, 5, 0);
    assert_int_equal(m->n_costs, 2);
    assert_int_equal(m->levels[0].size_bytes, 65536);
    assert_int_equal(m->levels[0].associativity, 8);
    assert_string_equal(m->memory.trust.source, "[1] page 3; else base [1]");
    assert_float_equal(m->memory.bandwidth_gbs, 10, 0);
    assert_int_equal(m->n_unverified, 1);
    must_read_the_same(m);
    pm_machine_free(m);
}

/* A level that is made larger reaches farther; what is said of both counts as it is said. */
static void a_response_goes_with_the_size_of_its_level(void **state) {
    (void)state;
    static const struct pm_machine_options none;
    struct pm_error err;
    put_file("base.conf", WHOLE "cache L2 { size = 1MiB line = 64 ways = 16 latency = 14 "
                                "miss_penalty = 9 exposed = 1 serves = {\"128KiB: 0.5\"} }\n");
    static const struct {
        const char *says;
        double distance;
    } cases[] = {{"latency = 15", 131072},
                 {"size = 2MiB", 262144},
                 {"size = 2MiB serves = {\"100KiB: 1\", \"512KiB: 0.5\"}", 524288},
                 {"serves = {\"100KiB: 1\", \"512KiB: 0.5\"}", 524288}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "include = base\ncache L2 { %s }\n", cases[i].says);
        put_file("derived.conf", text);
        struct pm_machine *m = read_with("derived.conf", &none, &err);
        if (!m)
            fail_msg("%s", err.text);
        assert_float_equal(pm_response_half_bytes(&m->levels[1].serves), cases[i].distance, 1e-6);
        must_read_the_same(m);
        struct pm_machine *half = pm_machine_scaled(m, "L2.size", 0.5);
        assert_float_equal(pm_response_half_bytes(&half->levels[1].serves), cases[i].distance / 2,
                           1e-6);
        pm_machine_copy_free(half);
        pm_machine_free(m);
    }
}

static void what_a_level_serves_is_told_in_a_sentence(void **state) {
    (void)state;
    static const struct {
        const char *serves, *told;
    } cases[] = {
        {"\"1MiB: 1\", \"9MiB: 0\"",
         "L2, of 32 MiB, is shared: it serves half of the reuses at 3 MiB."},
        {"\"1MiB: 0.4\", \"9MiB: 0\"",
         "L2, of 32 MiB, is shared: it serves 40% of the reuses at most."},
        {"\"1MiB: 1\", \"9MiB: 0.6\"",
         "L2, of 32 MiB, is shared: it serves 60% of the reuses at 9 MiB and more."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char file[2048];
        snprintf(file, sizeof file,
                 WHOLE "cache L2 { size = 32MiB line = 64 ways = 16 latency = 14 miss_penalty = 9 "
                       "exposed = 1 serves = {%s} }\n",
                 cases[i].serves);
        struct pm_machine *m = must_read(file);
        char *text = pm_level_serves_text(&m->levels[1]), *whole = written(m);
        assert_string_equal(text, cases[i].told);
        assert_non_null(strstr(whole, cases[i].told));
        assert_null(pm_level_serves_text(&m->levels[0]));
        free(text);
        free(whole);
        pm_machine_free(m);
    }
}

static void what_a_neighbour_says_is_unverified(void **state) {
    (void)state;
    static const struct pm_machine_options none;
    struct pm_error err;
    put_file("base.conf", WHOLE);
    put_file("derived.conf",
             "neighbour = base\n" TOP COST
             "cache L1 { size = 64KiB line = 64 latency = 5 not_verified = {latency} }\n");
    struct pm_machine *m = read_with("derived.conf", &none, &err);
    if (!m)
        fail_msg("%s", err.text);
    assert_int_equal(m->n_unverified, 3 + 1); /* ways, miss_penalty, exposed; latency */
    assert_string_equal(m->includes, "base");
    pm_machine_free(m);
}

static void a_circle_of_includes_is_told(void **state) {
    (void)state;
    static const struct pm_machine_options none;
    struct pm_error err;
    put_file("one.conf", "include = two\n" WHOLE);
    put_file("two.conf", "\ninclude = \"one\"\n" WHOLE);
    assert_null(read_with("one.conf", &none, &err));
    assert_non_null(strstr(err.text, "two.conf:2: `include = one`: the files include each other in "
                                     "a circle"));
    put_file("one.conf", "include = nobody\n" WHOLE);
    assert_null(read_with("one.conf", &none, &err));
    assert_non_null(strstr(err.text, "one.conf:1: `include = nobody`: there is no machine file"));
    put_file("one.conf", WHOLE "include = two\n");
    assert_null(read_with("one.conf", &none, &err));
    assert_non_null(strstr(err.text, ": `include` stands first in a file, and once"));
}

/* ---- settings -------------------------------------------------------------------------------- */

static void settings_change_figures(void **state) {
    (void)state;
    static char *settings[] = {
        "L2.size=4MiB",    "clock_mhz=1000",  "fp_mult.latency=7", "memory.latency_dirty=500",
        "words:L2.ways=8", "other:L2.ways=4", "page=2MiB",         "vpmullq.repeat=5"};
    const struct pm_machine_options options = {.settings = settings,
                                               .n_settings = sizeof settings / sizeof settings[0]};
    struct pm_error err;
    put_file("words.conf", everything);
    struct pm_machine *m = read_with("words.conf", &options, &err);
    if (!m)
        fail_msg("%s", err.text);
    assert_int_equal(m->levels[1].size_bytes, 4 << 20);
    assert_float_equal(m->levels[1].serves.points[1].distance_bytes, 4 * 262144, 0);
    assert_float_equal(m->levels[1].serves.points[1].share, 0.75, 0);
    assert_int_equal(m->levels[1].associativity, 8);
    assert_float_equal(m->clock_hz, 1e9, 0);
    assert_float_equal(m->memory_bandwidth_bytes_per_cycle, 12.5, 1e-12);
    assert_float_equal(pm_machine_cost(m, PM_OP_FP_MULT, 256, 8)->latency_cycles, 7, 0);
    assert_float_equal(m->memory.latency_dirty_cycles, 500, 0);
    assert_string_equal(m->levels[2].name, "DTLB2M");
    assert_float_equal(pm_cost_throughput(pm_machine_mnemonic_cost(m, "x86-64", "vpmullq", 256, 8)),
                       15, 0);
    assert_string_equal(m->name, "words (L2.size=4MiB, clock_mhz=1000, fp_mult.latency=7, "
                                 "memory.latency_dirty=500, L2.ways=8, page=2MiB, "
                                 "vpmullq.repeat=5)");
    pm_machine_free(m);
}

static void a_setting_that_cannot_be_is_told(void **state) {
    (void)state;
    static const struct {
        char *setting;
        const char *told;
    } cases[] = {
        {"L3.size=4MiB", "--set L3.size=4MiB: machine words has no `L3`"},
        {"L2.sise=4MiB", "--set L2.sise=4MiB: there is no figure `sise` of L2; did you mean size?"},
        {"clok_mhz=1", "--set clok_mhz=1: there is no figure `clok_mhz`; did you mean clock_mhz?"},
        {"L2.size=-1", "--set L2.size=-1: `size = -1` is out of range"},
        {"L2.size=1KiB", "--set L2.size=1KiB: cache `L2` is smaller than `L1`"},
        {"L2.ways=7", "--set L2.ways=7: cache `L2`: its 16384 lines are not a whole number of "},
        {"fp_mult.units=3", "--set fp_mult.units=3: `units` is no figure that can be set"},
        {"L2.serves=1",
         "--set L2.serves=1: `serves` is no figure that can be set: write a machine"},
        {"title=x", "--set title=x: `title` is no figure that can be set"},
        {"L2.size=", "a setting is NAME=VALUE"},
        {"page=1GiB", "--set page=1GiB: no `tlb` has the page in use, 1073741824 bytes"},
    };
    put_file("words.conf", everything);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *settings[] = {cases[i].setting};
        const struct pm_machine_options options = {.settings = settings, .n_settings = 1};
        struct pm_error err;
        struct pm_machine *m = read_with("words.conf", &options, &err);
        if (m || !strstr(err.text, cases[i].told))
            fail_msg("%s: got \"%s\", expected \"%s\"", cases[i].setting, err.text, cases[i].told);
    }
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static bool knows_mnemonic(const char *isa, const char *mnemonic) {
    return strcmp(isa, "x86-64") == 0 && strcmp(mnemonic, "vpmullq") == 0;
}

/* Each stands behind a file that is right; LINE and COLUMN of what is pointed at. */
static void a_mistake_is_told_and_pointed_at(void **state) {
    (void)state;
    static const struct {
        const char *text, *told;
        int column;
    } cases[] = {
        {"unit d {}", "unit `d` is used by no `cost`", 6},
        {"cost { of = {nop} latency = 1 uses = {\"a + e\"} }", "there is no unit `e`", 12 + 32},
        {"cost { of = {nop} latency = 1 uses = {\"a ++ b\"} }", "there is no unit ``", 0},
        {"cost { of = {nop} latency = 1 uses = {\"0*a\"} }", "a count before `*`", 0},
        {"cost { of = {nop} latency = 1 uses = {\"a:x\"} }", "after `:` stands for how many", 0},
        {"cost { of = {nop} latency = 1 uses = {\"a b\"} }", "is not understood", 0},
        {"cost { of = {nop} latency = 1 uses = {a} repeat = 2 }", "`repeat` goes with `units`", 0},
        {"cost { of = {nop} latency = 1 uses = {a} units = {a} }", "needs either `units", 0},
        {"cost { mnemonic = {vpmullq} latency = 1 units = {a} }",
         "a cost of `vpmullq` needs an `isa`", 20},
        {"isa = \"x86-64\" cost { mnemonic = {vpmulq} latency = 1 units = {a} }",
         "x86-64 has no instruction `vpmulq`", 35},
        {"bypass { from = {fp_add} to = {fp_ad} latency = 1 }",
         "`to` of a `bypass` names `fp_ad`, which is neither an operation class", 0},
        {"bypass { from = {fp_add} latency = 1 }", "the `bypass` section has no `to`", 0},
        {"bypass { from = {fp_add} to = {fp_add} }", "needs either `latency` or `extra`", 0},
        {"foreign pull { adds = {fp_add} }", "`foreign` knows memory_operand", 0},
        {"eliminates = {copies}", "`eliminates` is made of moves", 0},
        {"retire_width = -2", "`retire_width = -2` is out of range", 1},
        {"memory { latency = 1e9 }", "`latency = 1e9` is out of range", 10},
        {"prefetcher p { level = L7 max_stride = 64 }", "there is no cache `L7`", 12},
        {"prefetcher p { level = L1 min_stride = 128 max_stride = 64 }", "is above its", 0},
        {"prefetcher p { level = L1 }", "the `prefetcher` section has no `max_stride`", 0},
        {"curve k { of = x value = {1} }", "curve `k` has no points", 7},
        {"curve k { of = x working_set = {2, 1} value = {1, 2} }", "working sets do not ascend", 0},
        {"curve k { of = x working_set = {1, 2} value = {1} }", "`value` has 1 points, where", 0},
        {"curve k { of = x working_set = {1} value = {y} }", "`y` is not a number of `value`", 0},
        {"mispredict_penalty = \"5 (6 to 7)\"", "is not a number", 0},
        {"mispredict_penalty = \"5 (4 to 6\"", "is not a number", 0},
        {"page = 2MiB tlb T { entries = 4 page = 4KiB miss_penalty = 1 exposed = 1 }",
         "no `tlb` has the page in use", 0},
        {"cache L2 { size = 64KiB }", "the `cache` section has no `line`", 0},
        {"cache L2 { serves = {\"4MiB\"} }", "`4MiB` is no point of `serves`: a distance", 23},
        {"cache L2 { serves = {\"4MiB: 2\"} }", "`4MiB: 2` is no point of `serves`", 23},
        {"cache L2 { serves = {\"0: 1\"} }", "`0: 1` is no point of `serves`", 23},
        {"cache L2 { serves = {\"4MiB: .8 (.9 to 1)\"} }", "is no point of `serves`", 23},
        {"cache L2 { serves = {\"4MiB: .8 (-1 to 1)\"} }", "is no point of `serves`", 23},
        {"cache L2 { serves = {\"4MiB (1 to 9MiB): 1\"} }", "is no point of `serves`", 23},
        {"cache L2 { serves = {\"4MiB: 1\", \"2MiB: .5\"} }",
         "`2MiB: .5` of `serves` stands behind `4MiB: 1`: distances ascend, and shares", 34},
        {"cache L2 { serves = {\"4MiB: .5\", \"8MiB: .6\"} }", "distances ascend, and shares", 0},
        {"cache L2 { serves = {\"4MiB: .5 (0 to 1)\", \"8MiB: .4 (.1 to 1)\"} }",
         "distances ascend, and shares and both ends of their intervals never do", 0},
        {"cache L2 { serves = {a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a} }",
         "`serves` has more than 16 points", 12},
        {"tlb T { serves = {\"4MiB: .5\"} }", "no such option 'serves'", 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[4096];
        struct pm_error err;
        struct pm_mistake mistake = {0};
        const struct pm_machine_options options = {.mistake = &mistake,
                                                   .knows_mnemonic = knows_mnemonic};
        snprintf(text, sizeof text, "%s%s\n", WHOLE, cases[i].text);
        put_file("words.conf", text);
        struct pm_machine *m = read_with("words.conf", &options, &err);
        if (m || !strstr(err.text, cases[i].told))
            fail_msg("`%s`: got \"%s\", expected \"%s\"", cases[i].text, err.text, cases[i].told);
        assert_int_equal(err.kind, PM_ERROR_INPUT);
        pm_mistake_locate(text, mistake.sentence, &mistake);
        if (cases[i].column && (mistake.line != 13 || mistake.column != cases[i].column))
            fail_msg("`%s` (%s): points at %d:%d, not 13:%d", cases[i].text, err.text, mistake.line,
                     mistake.column, cases[i].column);
        pm_mistake_free(&mistake);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_arrives),
        cmocka_unit_test(what_is_written_reads_the_same),
        cmocka_unit_test(an_interval_stays_with_its_figure),
        cmocka_unit_test(throughput_follows_from_the_units),
        cmocka_unit_test(a_file_changes_what_it_includes),
        cmocka_unit_test(a_response_goes_with_the_size_of_its_level),
        cmocka_unit_test(what_a_level_serves_is_told_in_a_sentence),
        cmocka_unit_test(what_a_neighbour_says_is_unverified),
        cmocka_unit_test(a_circle_of_includes_is_told),
        cmocka_unit_test(settings_change_figures),
        cmocka_unit_test(a_setting_that_cannot_be_is_told),
        cmocka_unit_test(a_mistake_is_told_and_pointed_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
