/* Which passes look at a function, and in which order: the pipeline of the marking stage.  Each is
   put beside one of GCC's own passes; together they leave the code as it is. */
#include "function_state.h"

/* ---- the pipeline ---- */

/* Scalar evolutions cache what they find, in a table and in the loops.  At `loopinit` both are
   empty, and are left so: GCC's passes find what they would find without us. */
static void look_at_source() {
    if (!scev_initialized_p())
        return;
    std::map<int, std::pair<tree, bool>> kept;
    for (auto loop : loops_list(cfun, 0))
        kept[loop->num] = {loop->nb_iterations, (bool)loop->finite_p};
    pm_record_source_loops(PHASE_SOURCE);
    pm_record_references(PHASE_SOURCE);
    for (auto loop : loops_list(cfun, 0)) {
        loop->nb_iterations = kept[loop->num].first;
        loop->finite_p = kept[loop->num].second;
    }
    scev_reset_htab();
}

static void look_at_optimized() {
    if (!scev_initialized_p())
        return;
    pm_record_source_loops(PHASE_OPTIMIZED);
    pm_record_references(PHASE_OPTIMIZED);
}

static void look_before_expansion() {
    pm_record_source_loops(PHASE_EXPAND);
    pm_record_references(PHASE_EXPAND);
}

static void look_after_rtl_loops() {
    pm_record_instruction_loops();
    pm_record_unroll_factors();
}

struct step {
    enum opt_pass_type type;
    const char *name;
    enum pass_positioning_ops position;
    const char *beside; /* a pass of GCC */
    int instance;       /* of that pass; 0 all */
    void (*run)();
};

static const struct step PIPELINE[] = {
    {GIMPLE_PASS, "pm_recursion", PASS_POS_INSERT_BEFORE, "tailr", 0, pm_note_recursion},
    {GIMPLE_PASS, "pm_source", PASS_POS_INSERT_AFTER, "loopinit", 1, look_at_source},
    {GIMPLE_PASS, "pm_before_vect", PASS_POS_INSERT_BEFORE, "vect", 1, pm_before_vectorizer},
    {GIMPLE_PASS, "pm_after_vect", PASS_POS_INSERT_AFTER, "vect", 1, pm_after_vectorizer},
    {GIMPLE_PASS, "pm_optimized", PASS_POS_INSERT_BEFORE, "loopdone", 1, look_at_optimized},
    {GIMPLE_PASS, "pm_before_expand", PASS_POS_INSERT_AFTER, "*warn_function_noreturn", 1,
     look_before_expansion},
    {RTL_PASS, "pm_after_expand", PASS_POS_INSERT_AFTER, "expand", 1, pm_record_instruction_loops},
    {RTL_PASS, "pm_after_loop2", PASS_POS_INSERT_BEFORE, "loop2_done", 1, look_after_rtl_loops},
    {RTL_PASS, "pm_final_cfg", PASS_POS_INSERT_BEFORE, "*free_cfg", 1, pm_record_final_cfg},
    {RTL_PASS, "pm_labels", PASS_POS_INSERT_BEFORE, "final", 1, pm_emit_labels},
    {RTL_PASS, "pm_section", PASS_POS_INSERT_AFTER, "final", 1, pm_emit_section},
};

/* ---- as GCC wants it ---- */

static pass_data data_of(const struct step &step) {
    return {step.type, step.name, OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};
}

class gimple_step : public gimple_opt_pass {
  public:
    explicit gimple_step(const struct step &step) : gimple_opt_pass(data_of(step), g), what(step) {}

    opt_pass *clone() final override { return new gimple_step(what); }

    unsigned execute(function *) final override {
        what.run();
        return 0;
    }

  private:
    const struct step &what;
};

class rtl_step : public rtl_opt_pass {
  public:
    explicit rtl_step(const struct step &step) : rtl_opt_pass(data_of(step), g), run(step.run) {}

    unsigned execute(function *) final override {
        run();
        return 0;
    }

  private:
    void (*run)();
};

void pm_register_passes(const char *plugin_name) {
    for (const struct step &step : PIPELINE) {
        struct register_pass_info info;
        if (step.type == GIMPLE_PASS)
            info.pass = new gimple_step(step);
        else
            info.pass = new rtl_step(step);
        info.reference_pass_name = step.beside;
        info.ref_pass_instance_number = step.instance;
        info.pos_op = step.position;
        register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
    }
}
