/* Dense linear algebra of small problems: what series/ and surface/ solve with.  It knows nothing
   of models or programs, allocates nothing while it solves, and gives the same digits on any CPU.
 */
#ifndef PM_FIT_ALGEBRA_H
#define PM_FIT_ALGEBRA_H

#include "fit/algebra/least_squares.h"
#include "fit/algebra/quadratic_program.h"
#include "fit/algebra/rational.h"
#include "fit/algebra/robust_curve.h"
#include "fit/algebra/vectors.h"

#endif
