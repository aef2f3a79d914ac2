/* What drawings are made of; see svg.h. */
#include "report/writers/svg.h"

#include <math.h>

static const char STYLE[] =
    "<style>\n"
    "svg { background: #fff; font: 11px sans-serif; } text { fill: #333; }\n"
    ".title { font-size: 12px; font-weight: bold; } .end { text-anchor: end; }\n"
    ".middle { text-anchor: middle; } .grid { stroke: #ddd; }\n"
    ".cache { stroke: #888; stroke-dasharray: 4 3; } .curve { fill: none; stroke-width: 1.6; }\n"
    ".beyond { stroke-dasharray: 6 4; } .dot { fill: none; stroke-width: 1.4; }\n"
    ".band { stroke: none; opacity: 0.2; } .mark { fill: #888; fill-opacity: 0.25; stroke: #333; "
    "}\n"
    ".curve.s0, .dot.s0 { stroke: #0072b2; } .band.s0 { fill: #0072b2; }\n"
    ".curve.s1, .dot.s1 { stroke: #d55e00; } .band.s1 { fill: #d55e00; }\n"
    ".curve.s2, .dot.s2 { stroke: #009e73; } .band.s2 { fill: #009e73; }\n"
    ".curve.s3, .dot.s3 { stroke: #cc79a7; } .band.s3 { fill: #cc79a7; }\n"
    ".curve.s4, .dot.s4 { stroke: #b08900; } .band.s4 { fill: #b08900; }\n"
    ".curve.s5, .dot.s5 { stroke: #56b4e9; } .band.s5 { fill: #56b4e9; }\n"
    ".curve.s6, .dot.s6 { stroke: #777; } .band.s6 { fill: #777; }\n"
    "@media (prefers-color-scheme: dark) { svg { background: #181818; } text { fill: #ccc; }\n"
    "  .grid { stroke: #3a3a3a; } }\n"
    "</style>\n";

void pm_svg_begin(FILE *to, size_t width, size_t height) {
    fprintf(to,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%zu' height='%zu' viewBox='0 0 %zu "
            "%zu'>\n%s",
            width, height, width, height, STYLE);
}

void pm_svg_text(FILE *to, const char *text) {
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", to);
        else if (*text == '&')
            fputs("&amp;", to);
        else
            fputc(*text, to);
}

double pm_svg_round_up(double value) {
    double ten = pow(10, floor(log10(value)));
    double digits[] = {1, 2, 5, 10};
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++)
        if (value <= digits[i] * ten * (1 + 1e-9))
            return digits[i] * ten;
    return 10 * ten;
}
