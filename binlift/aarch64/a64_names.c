/* Mnemonics and text of instructions.  Capstone 4 knows ARMv8.0; the atomics of ARMv8.1, the
   scalable vectors and a few others have names here, without operands.  A word that neither knows
   is printed as data and has no class. */
#include "binlift/aarch64/a64.h"

#include <capstone/capstone.h>
#include <stdio.h>

/* One handle for each thread: Capstone's are not to be shared. */
struct disassembler {
    csh handle;
    cs_insn *insn;
};

static struct disassembler *disassembler(void) {
    static _Thread_local struct disassembler mine;
    if (!mine.insn && cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &mine.handle) == CS_ERR_OK)
        mine.insn = cs_malloc(mine.handle);
    return mine.insn ? &mine : NULL;
}

static bool disassemble(const uint8_t *bytes, uint64_t address, const cs_insn **insn) {
    struct disassembler *d = disassembler();
    size_t n = 4;
    if (!d || !cs_disasm_iter(d->handle, &bytes, &n, &address, d->insn))
        return false;
    *insn = d->insn;
    return true;
}

/* An instruction is the first of these with word & mask == value. */
static const struct {
    uint32_t mask, value;
    const char *name;
} later[] = {
    /* atomics: size, acquire and release are left out of the name */
    {0x3fa07c00, 0x08a07c00, "cas"},
    {0xbfa07c00, 0x08207c00, "casp"},
    {0x3f20fc00, 0x38208000, "swp"},
    {0x3f20fc00, 0x38200000, "ldadd"},
    {0x3f20fc00, 0x38201000, "ldclr"},
    {0x3f20fc00, 0x38202000, "ldeor"},
    {0x3f20fc00, 0x38203000, "ldset"},
    {0x3f20fc00, 0x38204000, "ldsmax"},
    {0x3f20fc00, 0x38205000, "ldsmin"},
    {0x3f20fc00, 0x38206000, "ldumax"},
    {0x3f20fc00, 0x38207000, "ldumin"},
    {0x3f20fc00, 0x3820c000, "ldapr"},
    {0x3f200c00, 0x19000000, "ldapur"},
    /* signed pointers */
    {0xfffffbff, 0xd65f0bff, "retaa"},
    {0xfefff800, 0xd61f0800, "braa"},
    {0xfefff800, 0xd63f0800, "blraa"},
    {0xfffe0000, 0xdac00000, "pacia"},
    {0xffa00400, 0xf8200400, "ldraa"},
    /* tags of memory */
    {0xffe00c00, 0xd9600000, "ldg"},
    {0xff200000, 0xd9200000, "stg"},
    {0xffc00000, 0x69000000, "stgp"},
    {0xffc00000, 0x91800000, "addg"},
    {0xffc00000, 0xd1800000, "subg"},
    {0xffe0fc00, 0x9ac01000, "irg"},
    {0xffe0fc00, 0x9ac01400, "gmi"},
    {0xdfe0fc00, 0x9ac00000, "subp"},
    /* products of half precision and of bytes, complex numbers */
    {0x9f20fc00, 0x0e009400, "sdot"},
    {0x9f00f400, 0x0f00e000, "sdot"},
    {0xbf20fc00, 0x2e009400, "udot"},
    {0xbf20e400, 0x2e00c400, "fcmla"},
    {0xbf20ec00, 0x2e00e400, "fcadd"},
    {0xbf20f400, 0x2e008400, "sqrdmlah"},
    /* scalable vectors: loads and stores */
    {0xffc0e010, 0x85800000, "ldr"},
    {0xffc0e000, 0x85804000, "ldr"},
    {0xffc0e010, 0xe5800000, "str"},
    {0xffc0e000, 0xe5804000, "str"},
    {0xfe408000, 0x84408000, "ld1r"},
    {0xfe60e000, 0xa400e000, "ldnt1"},
    {0xfe60e000, 0xa400c000, "ldnt1"},
    {0xfe60e000, 0xa420c000, "ld2"},
    {0xfe60e000, 0xa420e000, "ld2"},
    {0xfe60e000, 0xa440c000, "ld3"},
    {0xfe60e000, 0xa440e000, "ld3"},
    {0xfe60e000, 0xa460c000, "ld4"},
    {0xfe60e000, 0xa460e000, "ld4"},
    {0xfe00c000, 0xa4000000, "ld1rq"},
    {0xfe00e000, 0xa4004000, "ld1"},
    {0xfe00e000, 0xa4006000, "ldff1"},
    {0xfe10e000, 0xa400a000, "ld1"},
    {0xfe10e000, 0xa410a000, "ldnf1"},
    {0xbe000000, 0x84000000, "ld1"}, /* gathers */
    {0xfe70e000, 0xe410e000, "stnt1"},
    {0xfe70e000, 0xe430e000, "st2"},
    {0xfe70e000, 0xe450e000, "st3"},
    {0xfe70e000, 0xe470e000, "st4"},
    {0xfe60e000, 0xe4206000, "st2"},
    {0xfe60e000, 0xe4406000, "st3"},
    {0xfe60e000, 0xe4606000, "st4"},
    {0xfe60e000, 0xe4006000, "stnt1"},
    {0xfe000000, 0xe4000000, "st1"},
    /* counts, predicates */
    {0xff30fc00, 0x0430e000, "inc"},
    {0xff30fc00, 0x0430e400, "dec"},
    {0xff30fc00, 0x0420e000, "cnt"},
    {0xff30f800, 0x0430c000, "inc"},
    {0xff20f000, 0x0420f000, "uqdec"},
    {0xffe0f800, 0x04205000, "addvl"},
    {0xffe0f800, 0x04605000, "addpl"},
    {0xfffff800, 0x04bf5000, "rdvl"},
    {0xff3fc200, 0x25208000, "cntp"},
    {0xff38f800, 0x25288800, "incp"},
    {0xff3ff800, 0x252c8000, "incp"},
    {0xff20e010, 0x25200010, "whilele"},
    {0xff20ec10, 0x25200400, "whilelt"},
    {0xff20ec10, 0x25200c00, "whilelo"},
    {0xff20ec10, 0x25200000, "whilege"},
    {0xff3ffc10, 0x2518e000, "ptrue"},
    {0xfffffff0, 0x2518e400, "pfalse"},
    {0xffffc21f, 0x2550c000, "ptest"},
    {0xff20fc10, 0x05204000, "zip1"},
    {0xffb0c010, 0x25804000, "orr"}, /* of predicates */
    {0xff30c010, 0x25004000, "and"},
    {0xfffefe10, 0x05304000, "punpklo"},
    {0xff3fe000, 0x0520a000, "lasta"},
    {0xff3fe000, 0x0521a000, "lastb"},
    {0xff20e000, 0x24008000, "cmpge"},
    {0xff00e000, 0x24000000, "cmphs"},
    {0xff000000, 0x24000000, "cmpeq"},
    {0xff204000, 0x25000000, "cmpeq"},
    {0xff20c000, 0x65004000, "fcmeq"},
    {0xff20c000, 0x6500c000, "fcmeq"},
    {0xff38e000, 0x65102000, "fcmeq"},
    /* elements */
    {0xff3ffc00, 0x05203800, "dup"},
    {0xff20fc00, 0x05202000, "dup"},
    {0xff3fe000, 0x2538c000, "dup"},
    {0xff3fe000, 0x2539c000, "fdup"},
    {0xff3fe000, 0x0528a000, "cpy"},
    {0xff3fe000, 0x05208000, "cpy"},
    {0xff30e000, 0x0510c000, "fcpy"},
    {0xff308000, 0x05100000, "cpy"},
    {0xff3ee000, 0x052a8000, "clastb"},
    {0xff20f000, 0x0420a000, "adr"},
    {0xff20c000, 0x0520c000, "sel"},
    {0xff20f000, 0x04204000, "index"},
    {0xff20fc00, 0x05206000, "zip1"},
    {0xff20fc00, 0x05206400, "zip2"},
    {0xff20fc00, 0x05206800, "uzp1"},
    {0xff20fc00, 0x05206c00, "uzp2"},
    {0xff20fc00, 0x05207000, "trn1"},
    {0xff20fc00, 0x05207400, "trn2"},
    {0xff20fc00, 0x05203000, "tbl"},
    {0xff3ffc00, 0x05383800, "rev"},
    {0xff3cfc00, 0x05303800, "sunpklo"},
    {0xffe0e000, 0x05200000, "ext"},
    {0xfffffc00, 0x0420bc00, "movprfx"},
    {0xff3ee000, 0x04102000, "movprfx"},
    /* integers */
    {0xff3fe000, 0x04000000, "add"},
    {0xff3fe000, 0x04010000, "sub"},
    {0xff20fc00, 0x04200000, "add"},
    {0xff20fc00, 0x04200400, "sub"},
    {0xff3fc000, 0x2520c000, "add"},
    {0xff3fc000, 0x2521c000, "sub"},
    {0xff3fe000, 0x04100000, "mul"},
    {0xff3fe000, 0x2530c000, "mul"},
    {0xff20c000, 0x04004000, "mla"},
    {0xff20e000, 0x0400c000, "mad"},
    {0xff20e000, 0x0400e000, "msb"},
    {0xffe0fc00, 0x04203000, "and"},
    {0xffe0fc00, 0x04603000, "orr"},
    {0xffe0fc00, 0x04a03000, "eor"},
    {0xffe0fc00, 0x04e03000, "bic"},
    {0xff3fe000, 0x04180000, "orr"},
    {0xff3fe000, 0x04190000, "eor"},
    {0xff3fe000, 0x041a0000, "and"},
    {0xfffc0000, 0x05800000, "and"},
    {0xfffc0000, 0x05000000, "orr"},
    {0xff20fc00, 0x04209c00, "lsl"},
    {0xff20fc00, 0x04209400, "lsr"},
    {0xff20fc00, 0x04209000, "asr"},
    {0xff38e000, 0x04008000, "lsl"},
    {0xff38e000, 0x04108000, "lsl"},
    {0xff3ee000, 0x04080000, "smax"},
    {0xff3ee000, 0x040a0000, "smin"},
    {0xff3ee000, 0x04140000, "sdiv"},
    {0xff3fe000, 0x0416a000, "abs"},
    {0xff3fe000, 0x0417a000, "neg"},
    {0xff3ee000, 0x0410a000, "sxtb"},
    {0xff3ee000, 0x0412a000, "sxth"},
    {0xff3ee000, 0x0414a000, "sxtw"},
    {0xff3fe000, 0x04002000, "saddv"},
    {0xff3fe000, 0x04012000, "uaddv"},
    /* floating point */
    {0xff20fc00, 0x65000000, "fadd"},
    {0xff20fc00, 0x65000400, "fsub"},
    {0xff20fc00, 0x65000800, "fmul"},
    {0xff3fe000, 0x65008000, "fadd"},
    {0xff3fe000, 0x65018000, "fsub"},
    {0xff3fe000, 0x65028000, "fmul"},
    {0xff3fe000, 0x65038000, "fsub"},
    {0xff3ce000, 0x65048000, "fmax"},
    {0xff3fe000, 0x65088000, "fabd"},
    {0xff3ee000, 0x650c8000, "fdiv"},
    {0xff38e000, 0x65188000, "fadd"},
    {0xff20e000, 0x65200000, "fmla"},
    {0xff20e000, 0x65202000, "fmls"},
    {0xff20e000, 0x65204000, "fnmla"},
    {0xff20e000, 0x65206000, "fnmls"},
    {0xff20e000, 0x65208000, "fmad"},
    {0xff20e000, 0x6520a000, "fmsb"},
    {0xff20e000, 0x6520c000, "fnmad"},
    {0xff20e000, 0x6520e000, "fnmsb"},
    {0xff20f800, 0x64200000, "fmla"},
    {0xff20fc00, 0x64202000, "fmul"},
    {0xff3fe000, 0x65002000, "faddv"},
    {0xff3ce000, 0x65042000, "fmaxv"},
    {0xff3fe000, 0x65182000, "fadda"},
    {0xff3fe000, 0x650da000, "fsqrt"},
    {0xff3fe000, 0x041ca000, "fabs"},
    {0xff3fe000, 0x041da000, "fneg"},
    {0xff38e000, 0x6500a000, "frintn"},
    {0xff38e000, 0x6508a000, "fcvt"},
    {0xff38e000, 0x6510a000, "scvtf"},
    {0xff38e000, 0x6518a000, "fcvtzs"},
    {0xfffffc00, 0x650e3000, "frecpe"},
};
enum { N_LATER = sizeof later / sizeof *later };

_Static_assert(ARM64_INS_ENDING + N_LATER <= PM_A64_N_MNEMONICS, "the table of rules is larger");

const char *pm_a64_mnemonic(uint32_t number) {
    struct disassembler *d = disassembler();
    if (number >= ARM64_INS_ENDING)
        return number - ARM64_INS_ENDING < N_LATER ? later[number - ARM64_INS_ENDING].name : NULL;
    return d && number != ARM64_INS_INVALID ? cs_insn_name(d->handle, number) : NULL;
}

static uint32_t later_mnemonic(uint32_t word) {
    for (uint32_t i = 0; i < N_LATER; i++)
        if ((word & later[i].mask) == later[i].value)
            return ARM64_INS_ENDING + i;
    return ARM64_INS_INVALID;
}

uint32_t pm_a64_mnemonic_of(const uint8_t *bytes, const struct pm_insn *insn) {
    const cs_insn *found;
    if (pm_a64_group(pm_a64_word(bytes)) != PM_A64_SVE && disassemble(bytes, insn->address, &found))
        return found->id;
    return later_mnemonic(pm_a64_word(bytes));
}

void pm_a64_print(const uint8_t *bytes, const struct pm_insn *insn, char *text, unsigned size) {
    const cs_insn *found;
    uint32_t number = pm_a64_mnemonic_of(bytes, insn);
    if (!size)
        return;
    if (number < ARM64_INS_ENDING && disassemble(bytes, insn->address, &found))
        snprintf(text, size, "%s%s%s", found->mnemonic, *found->op_str ? " " : "", found->op_str);
    else if (number >= ARM64_INS_ENDING)
        snprintf(text, size, "%s (0x%08x)", pm_a64_mnemonic(number), pm_a64_word(bytes));
    else
        snprintf(text, size, ".inst 0x%08x", pm_a64_word(bytes));
}
