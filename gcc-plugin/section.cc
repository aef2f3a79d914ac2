/* Writes the section `.pmodel` of a function as assembler text, behind the function.  The format is
   core/pmodel_section.h's; offsets into the code are differences of labels, which the assembler
   resolves. */
#include "function_state.h"

/* Records without labels are put together as bytes; the order in which a string gets its number is
   the order in which its record stands. */
class record_writer {
  public:
    void byte(unsigned value) { bytes.push_back((char)value); }

    void number(unsigned HOST_WIDE_INT value) /* ULEB128 */
    {
        do {
            byte((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
            value >>= 7;
        } while (value);
    }

    void signed_number(HOST_WIDE_INT value) /* SLEB128 */
    {
        for (;;) {
            unsigned low = value & 0x7f;
            value >>= 7;
            if ((value == 0 && !(low & 0x40)) || (value == -1 && (low & 0x40))) {
                byte(low);
                return;
            }
            byte(low | 0x80);
        }
    }

    /* Emits the string's own record where it is new: call before the record that uses it. */
    unsigned string(const std::string &text) {
        if (text.empty() || text == "?")
            return 0;
        auto found = strings.find(text);
        if (found != strings.end())
            return found->second;
        unsigned number_of_string = strings.size() + 1;
        strings[text] = number_of_string;
        byte(PM_RECORD_STRING);
        bytes.append(text.c_str(), strlen(text.c_str()) + 1);
        return number_of_string;
    }

    void append(const record_writer &other) { bytes += other.bytes; }
    const std::string &text() const { return bytes; }

    void flush(FILE *out) {
        enum { BYTES_A_LINE = 60 };
        for (size_t i = 0; i < bytes.size(); i++) {
            unsigned char c = bytes[i];
            if (i % BYTES_A_LINE == 0)
                fputs(i ? "\"\n\t.ascii\t\"" : "\t.ascii\t\"", out);
            if (ISPRINT(c) && c != '"' && c != '\\')
                fputc(c, out);
            else
                fprintf(out, "\\%03o", c);
        }
        if (!bytes.empty())
            fputs("\"\n", out);
        bytes.clear();
    }

  private:
    std::string bytes;
    std::map<std::string, unsigned> strings;
};

/* ---- the compiler and its options ---- */

/* The options that change code: of optimisation and of the target. */
static std::string options_text() {
    std::string text;
    for (unsigned i = 1; i < save_decoded_options_count; i++) {
        const cl_decoded_option &option = save_decoded_options[i];
        if (option.opt_index >= cl_options_count || !option.orig_option_with_args_text)
            continue;
        unsigned flags = cl_options[option.opt_index].flags;
        if (flags & (CL_OPTIMIZATION | CL_TARGET))
            text += (text.empty() ? "" : " ") + std::string(option.orig_option_with_args_text);
    }
    return text;
}

static void write_producer(record_writer *writer) {
    unsigned compiler = writer->string(std::string(pm_language()) + " " + gcc_version.basever);
    unsigned options = writer->string(options_text());
    writer->byte(PM_RECORD_PRODUCER);
    writer->number(compiler);
    writer->number(options);
}

/* ---- loops and edges ---- */

static void write_loops(record_writer *writer) {
    struct pm_function_state *s = pm_state();
    for (size_t i = 1; i < s->final_loops.size(); i++) {
        const struct pm_final_loop &loop = s->final_loops[i];
        auto found = s->source_loops.find(loop.source_loop);
        struct pm_source_loop source;
        if (found != s->source_loops.end())
            source = found->second;
        unsigned file = writer->string(source.file), count = writer->string(source.trip_count),
                 variable = writer->string(source.variable);
        writer->byte(PM_RECORD_LOOP);
        writer->number(i);
        writer->number(loop.parent);
        writer->number(loop.depth);
        writer->number(file);
        writer->number(source.line);
        writer->number(source.last_line);
        writer->number(count);
        writer->number(source.unroll);
        writer->number(loop.flags | source.flags);
        writer->number(variable);
    }
}

static void write_edges(record_writer *writer) {
    for (const struct pm_final_edge &edge : pm_state()->edges) {
        writer->byte(PM_RECORD_EDGE);
        writer->number(edge.from);
        writer->number(edge.to);
        writer->number(edge.flags);
    }
}

/* ---- references ---- */

/* What tells objects of a function apart.  One array may be seen with several extents, as an
   inlined routine declares it: the first one is kept. */
static std::string object_key(const struct pm_object &object) {
    return std::to_string(object.kind) + " " + object.name + " " +
           object.type.substr(0, object.type.find('['));
}

/* The stride of REFERENCE in a final loop: that of the source loop it is tied to, times the number
   of source iterations in one of it. */
static struct pm_marked_stride stride_in(const struct pm_marked_reference &reference,
                                         int final_loop) {
    struct pm_function_state *s = pm_state();
    struct pm_marked_stride stride;
    if (reference.fixed_address) {
        stride.kind = PM_STRIDE_CONSTANT;
        return stride;
    }
    int source_loop = s->final_loops[final_loop].source_loop;
    for (const struct pm_level_stride &level : reference.levels)
        if (source_loop && level.source_loop == source_loop)
            stride = level.stride;
    auto source = s->source_loops.find(source_loop);
    unsigned unroll = source == s->source_loops.end() ? 1 : source->second.unroll;
    if (unroll > 1 && stride.kind == PM_STRIDE_SYMBOLIC)
        stride.expression = std::to_string(unroll) + "*(" + stride.expression + ")";
    stride.bytes *= unroll;
    return stride;
}

/* Gives each pair of a reference and a final loop that an operand names its number, writing the
   record at its first use; pairs that say the same share one. */
class reference_writer {
  public:
    explicit reference_writer(record_writer *writer) : writer(writer) {}

    unsigned number_of(const struct pm_marked_operand &operand) {
        return operand.reference ? number_in_loop(operand.reference, operand.final_loop) : 0;
    }

    unsigned number_in_loop(int reference, int final_loop) {
        auto key = std::make_pair(reference, final_loop);
        auto found = numbers.find(key);
        if (found != numbers.end())
            return found->second;
        return numbers[key] = write(*pm_find_reference(reference), final_loop);
    }

  private:
    record_writer *writer;
    std::map<std::pair<int, int>, unsigned> numbers;
    std::map<std::string, unsigned> objects;
    std::map<std::string, unsigned> written;

    unsigned object_number(const struct pm_object &object) {
        if (!object.known() && object.kind == PM_OBJECT_UNKNOWN)
            return 0;
        auto found = objects.find(object_key(object));
        if (found != objects.end())
            return found->second;
        unsigned number = objects.size() + 1;
        objects[object_key(object)] = number;
        unsigned name = writer->string(object.name), type = writer->string(object.type);
        writer->byte(PM_RECORD_OBJECT);
        writer->number(number);
        writer->number(name);
        writer->number(type);
        writer->number(object.kind);
        return number;
    }

    unsigned write(const struct pm_marked_reference &reference, int final_loop) {
        struct pm_function_state *s = pm_state();
        unsigned object = object_number(reference.object), levels = 0;
        record_writer body, strides; /* of numbers only; strings go to the section's writer */
        body.number(final_loop);
        body.number(object);
        body.number(reference.flags);
        body.number(reference.size_bytes);
        body.number(writer->string(reference.text));
        body.number(writer->string(reference.file));
        body.number(reference.line);
        for (int loop = final_loop; loop; loop = s->final_loops[loop].parent, levels++) {
            struct pm_marked_stride stride = stride_in(reference, loop);
            strides.number(loop);
            strides.number(stride.kind);
            if (stride.kind == PM_STRIDE_CONSTANT)
                strides.signed_number(stride.bytes);
            else if (stride.kind == PM_STRIDE_SYMBOLIC)
                strides.number(writer->string(stride.expression));
        }
        body.number(levels);
        body.append(strides);

        auto found = written.find(body.text());
        if (found != written.end())
            return found->second;
        unsigned number = written.size() + 1;
        written[body.text()] = number;
        writer->byte(PM_RECORD_REFERENCE);
        writer->number(number);
        writer->append(body);
        return number;
    }
};

/* Pairs as numbers, each under its smaller one. */
static void write_aliases(record_writer *writer, reference_writer *references) {
    std::map<unsigned, std::set<unsigned>> partners;
    for (const struct pm_alias_pair &pair : pm_state()->may_alias) {
        unsigned a = references->number_in_loop(pair.a, pair.final_loop);
        unsigned b = references->number_in_loop(pair.b, pair.final_loop);
        if (a != b)
            partners[MIN(a, b)].insert(MAX(a, b));
    }
    for (const auto &entry : partners) {
        writer->byte(PM_RECORD_MAY_ALIAS);
        writer->number(entry.first);
        writer->number(entry.second.size());
        for (unsigned other : entry.second)
            writer->number(other);
    }
}

/* ---- records with places ---- */

static int contribution; /* counts within the assembler file, for our own labels */

static void write_place(FILE *out, struct pm_code_position at) {
    fprintf(out, "%d,.L%d-", at.part, at.label);
    if (at.part)
        fprintf(out, ".L%d", pm_state()->cold_base);
    else
        fprintf(out, ".LPMB%d", contribution);
}

static void write_places(FILE *out, const std::vector<unsigned> &reference_numbers) {
    struct pm_function_state *s = pm_state();
    for (const struct pm_block_start &start : s->block_starts) {
        fprintf(out, "\t.uleb128\t%d,", PM_RECORD_BLOCK);
        write_place(out, start.at);
        fprintf(out, ",%d,%d\n", start.block, s->final_loop_of_block[start.block]);
    }
    for (size_t i = 0; i < s->memory_operands.size(); i++) {
        const struct pm_marked_operand &operand = s->memory_operands[i];
        fprintf(out, "\t.uleb128\t%d,", PM_RECORD_MEMORY);
        write_place(out, operand.at);
        fprintf(out, ",%u,%d,%u,%d\n", reference_numbers[i], operand.operand_class, operand.access,
                operand.final_loop);
    }
    for (const struct pm_marked_jump_table &table : s->jump_tables) {
        fprintf(out, "\t.uleb128\t%d,", PM_RECORD_JUMP_TABLE);
        write_place(out, table.at);
        fprintf(out, ",%d\n", (int)table.targets.size());
        for (const struct pm_code_position &target : table.targets) {
            fputs("\t.uleb128\t", out);
            write_place(out, target);
            fputc('\n', out);
        }
    }
    for (const struct pm_code_position &call : s->noreturn_calls) {
        fprintf(out, "\t.uleb128\t%d,", PM_RECORD_NORETURN);
        write_place(out, call);
        fputc('\n', out);
    }
}

/* ---- the contribution ---- */

/* SHF_LINK_ORDER binds the contribution to its function's section.  Functions of one section share
   one section of ours: it is bound by the first function's name. */
static void write_section_directive(FILE *out, const char *function_name) {
    static std::map<std::string, std::string> first_names; /* by name of the text section */
    tree group = DECL_COMDAT_GROUP(current_function_decl);
    if (group) {
        fputs("\t.pushsection\t" PM_SECTION_NAME ",\"oG\",%progbits,", out);
        assemble_name(out, function_name);
        fprintf(out, ",%s,comdat\n", IDENTIFIER_POINTER(group));
        return;
    }
    section *text = function_section(current_function_decl);
    std::string key = text->common.flags & SECTION_NAMED ? text->named.name : "";
    auto bound = first_names.insert({key, function_name}).first;
    fputs("\t.pushsection\t" PM_SECTION_NAME ",\"o\",%progbits,", out);
    assemble_name(out, bound->second.c_str());
    fputc('\n', out);
}

void pm_emit_section() {
    struct pm_function_state *s = pm_state();
    FILE *out = asm_out_file;
    const char *name = get_fnname_from_decl(current_function_decl);
    contribution++;

    write_section_directive(out, name);
    fprintf(out, "\t.set\t.LPMB%d,", contribution); /* a local name: the function's may be weak */
    assemble_name(out, name);
    fprintf(out, "\n\t.4byte\t%#x\n\t.2byte\t%d,%d\n\t.4byte\t.LPME%d-.LPMS%d\n", PM_SECTION_MAGIC,
            PM_SECTION_VERSION, optimize ? PM_SECTION_OPTIMIZED : 0, contribution, contribution);
    fprintf(out, "\t.8byte\t.LPMB%d\n", contribution);
    if (s->cold_base)
        fprintf(out, "\t.8byte\t.L%d\n", s->cold_base);
    else
        fputs("\t.8byte\t0\n", out);
    fprintf(out, ".LPMS%d:\n", contribution);

    record_writer writer;
    write_producer(&writer);
    write_loops(&writer);
    write_edges(&writer);
    reference_writer references(&writer);
    std::vector<unsigned> reference_numbers;
    for (const struct pm_marked_operand &operand : s->memory_operands)
        reference_numbers.push_back(references.number_of(operand));
    write_aliases(&writer, &references);
    writer.flush(out);
    write_places(out, reference_numbers);
    fprintf(out, ".LPME%d:\n\t.popsection\n", contribution);
    pm_state_drop();
}
