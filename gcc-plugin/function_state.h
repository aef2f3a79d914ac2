/* What the passes learn of one function, in the order in which they learn it, and the entry points
   of the files that do so.  GCC compiles a function to the end before it begins the next, so there
   is one state; it holds numbers and text only, never GCC's trees, which may be collected between
   two passes.

   Two numberings of loops meet here.  A *source loop* carries the number that GCC gives it as long
   as its loop tree lives (loop->num, from the middle end to the end of the RTL loop passes).  A
   *final loop* is one of the final control-flow graph, numbered from 1, parents first: it is what
   the section speaks of.  final_cfg.cc ties the second to the first. */
#ifndef PM_BODY_FUNCTION_STATE_H
#define PM_BODY_FUNCTION_STATE_H

#include "gcc.h"
#include "core/pmodel_section.h"

/* When a function is looked at. */
enum pm_phase {
    PHASE_SOURCE,     /* loops as the source has them */
    PHASE_VECTORIZED, /* just after the vectoriser; for loops only */
    PHASE_OPTIMIZED,  /* at the end of the loop passes */
    PHASE_EXPAND,     /* the last before RTL; no scalar evolutions any more */
};

struct pm_marked_stride {
    enum pm_stride_kind kind = PM_STRIDE_UNKNOWN;
    HOST_WIDE_INT bytes = 0; /* an iteration, if constant */
    std::string expression;  /* if symbolic */
};

/* Of one loop of the nest. */
struct pm_level_stride {
    int source_loop;
    struct pm_marked_stride stride;
};

struct pm_object {
    std::string name = "?", type;
    enum pm_object_kind kind = PM_OBJECT_UNKNOWN;

    bool known() const { return name != "?"; }
};

struct pm_marked_reference {
    enum pm_phase phase;
    bool store;
    bool fixed_address = false; /* the same bytes in every iteration of every loop */
    unsigned flags = 0;         /* enum pm_reference_flags */
    HOST_WIDE_INT size_bytes = 0;
    struct pm_object object;
    std::string text, file;
    int line = 0;
    int source_loop = 0;
    int source_reference = 0;            /* identity of the same access at PHASE_SOURCE */
    int copy_partner = 0;                /* the other side of a copy from memory to memory */
    std::vector<pm_level_stride> levels; /* innermost first */
};

struct pm_source_loop {
    int number, parent, depth;
    std::string file, trip_count, variable;
    int line = 0, last_line = 0;
    unsigned unroll = 1; /* by the RTL unroller */
    unsigned flags = 0;  /* enum pm_loop_flags */
};

struct pm_final_loop {
    int parent, depth;
    int source_loop; /* 0: tied to none */
    unsigned flags;
};

struct pm_final_edge {
    int from, to;
    unsigned flags; /* enum pm_cfg_edge_flags */
};

/* A place in the code: a label of ours before an instruction. */
struct pm_code_position {
    int part;  /* of the function: 0 hot, 1 cold */
    int label; /* number of the internal label */
};

struct pm_block_start {
    struct pm_code_position at;
    int block;
};

struct pm_marked_operand {
    struct pm_code_position at;
    int reference; /* identity; 0 none */
    enum pm_operand_class operand_class;
    unsigned access; /* 1 load, 2 store, 3 both */
    int final_loop;
};

/* Two references directly in a final loop that cannot be proven apart. */
struct pm_alias_pair {
    int final_loop;
    int a, b; /* identities */
};

struct pm_marked_jump_table {
    struct pm_code_position at;
    std::vector<pm_code_position> targets;
};

struct pm_function_state {
    tree function;
    int first_identity; /* of this function's references; identities are unique in a compilation */
    std::vector<pm_marked_reference> references;
    std::map<std::pair<location_t, std::string>, int> source_identities;
    std::map<unsigned, std::vector<int>> references_of_decl; /* by DECL_UID */

    std::map<int, pm_source_loop> source_loops;
    std::map<int, int> renamed_loops; /* GCC's number → the number it had at PHASE_OPTIMIZED */
    std::set<int> loops_before_vectorizer, vector_loops_before_vectorizer;
    std::map<int, int> source_loop_of_insn; /* by INSN_UID */

    std::vector<pm_final_loop> final_loops; /* [0] is not a loop */
    std::map<int, int> final_loop_of_block; /* by index */
    std::map<int, int> final_loop_of_insn;
    std::vector<pm_final_edge> edges;

    int cold_base = 0; /* label, 0 = no cold part */
    std::vector<pm_block_start> block_starts;
    std::vector<pm_marked_operand> memory_operands;
    std::vector<pm_alias_pair> may_alias; /* of the loops with PM_LOOP_ALIAS_KNOWN */
    std::vector<pm_marked_jump_table> jump_tables;
    std::vector<pm_code_position> noreturn_calls;
};

/* ---- function_state.cc ---- */
struct pm_function_state *pm_state(); /* of current_function_decl; made where there is none */
void pm_state_drop();
bool pm_is_fortran();
const char *pm_language(); /* of the current function's source: "GNU C17" */
int pm_add_reference(const struct pm_marked_reference &reference); /* returns its identity */
struct pm_marked_reference *pm_find_reference(int identity); /* NULL if not of this function */

/* ---- source_text.cc ---- */
bool pm_has_user_name(tree ssa_name); /* of a variable of the program */
std::string pm_expression_text(tree expression);
std::string pm_reference_text(tree reference);
std::string pm_type_text(tree type);

/* ---- polynomial.cc ---- */
/* "" and *VALUE for a constant. */
std::string pm_polynomial_text(tree expression, HOST_WIDE_INT *value);

/* ---- objects.cc ---- */
/* INNERMOST is the loop of the access; NULL for none. */
struct pm_object pm_object_of_reference(tree reference, class loop *innermost);
struct pm_object pm_object_of_pointer(tree pointer, class loop *innermost);

/* ---- location_tags.cc ---- */
void pm_tag_statement(gimple *statement, int identity);
void pm_tag_tree(tree reference, int identity);
int pm_tag_of_location(location_t location); /* 0 none */
int pm_tag_of_tree(tree reference);

/* ---- derivative.cc ---- */
struct pm_derivative {
    tree value;    /* bytes an iteration, of type ssizetype; NULL unknown */
    bool indirect; /* unknown because it depends on a load that moves */
};
void pm_derivative_forget(); /* before and after each pass */
/* In LOOP, for a use in INNERMOST, a loop in it or itself. */
struct pm_derivative pm_derivative_of(tree expression, class loop *loop, class loop *innermost);
tree pm_as_ssizetype(tree expression);

/* ---- strides.cc ---- */
/* A summand of an address. */
struct pm_address_term {
    tree value;
    tree factor; /* NULL = 1 */
};
std::vector<pm_address_term> pm_address_of_reference(tree reference);
std::vector<pm_level_stride> pm_strides_of_address(const std::vector<pm_address_term> &terms,
                                                   class loop *innermost);

/* ---- references.cc ---- */
void pm_record_references(enum pm_phase phase);

/* ---- loops.cc ---- */
int pm_source_loop_number(class loop *loop); /* 0 for the function's body and NULL */
void pm_record_source_loops(enum pm_phase phase);
void pm_before_vectorizer();
void pm_after_vectorizer();
void pm_record_instruction_loops();
void pm_record_unroll_factors();

/* ---- final_cfg.cc ---- */
void pm_record_final_cfg();

/* ---- operands.cc ---- */
void pm_record_operands(rtx_insn *insn, struct pm_code_position at);
bool pm_has_memory_operand(rtx_insn *insn);

/* ---- aliases.cc ---- */
void pm_note_recursion();
void pm_note_access(int reference, int final_loop, const_rtx memory, bool store);
void pm_record_aliases(); /* of what was noted */

/* ---- labels.cc ---- */
void pm_emit_labels();

/* ---- section.cc ---- */
void pm_emit_section();

/* ---- passes.cc ---- */
void pm_register_passes(const char *plugin_name);

#endif
