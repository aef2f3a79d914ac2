/* What drawings are made of (SVG); private to report/. */
#ifndef PM_SVG_H
#define PM_SVG_H

#include <stddef.h>
#include <stdio.h>

enum { PM_SVG_STYLES = 7 }; /* classes s0, s1 … of lines, dots and bands, by colours */

/* The head of a drawing of this size in pixels, with the style sheet; it ends with "</svg>\n". */
void pm_svg_begin(FILE *to, size_t width, size_t height);
/* TEXT as it has to stand in XML. */
void pm_svg_text(FILE *to, const char *text);
/* The next of 1, 2, 5, 10, … that is not less. */
double pm_svg_round_up(double value);

#endif
