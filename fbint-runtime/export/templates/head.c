/* written by fbint @version@ */
#include "@prefix@.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define R(number) ((real)(number))

#ifndef FBINT_FMA
#if defined(FBINT_FLOAT) && defined(FP_FAST_FMAF)
#define FBINT_FMA(a, b, c) fmaf(a, b, c)
#elif !defined(FBINT_FLOAT) && defined(FP_FAST_FMA)
#define FBINT_FMA(a, b, c) fma(a, b, c)
#else
#define FBINT_FMA(a, b, c) ((a) * (b) + (c))
#endif
#endif

#ifdef FBINT_FLOAT
#define FBINT_FUNCTION(name) name##f
#else
#define FBINT_FUNCTION(name) name
#endif
#define FBINT_FLOOR(x) FBINT_FUNCTION(floor)(x)
#define FBINT_SQRT(x) FBINT_FUNCTION(sqrt)(x)
#define FBINT_FABS(x) FBINT_FUNCTION(fabs)(x)
#define FBINT_SIN(x) FBINT_FUNCTION(sin)(x)
#define FBINT_COS(x) FBINT_FUNCTION(cos)(x)
#define FBINT_TAN(x) FBINT_FUNCTION(tan)(x)
#define FBINT_ASIN(x) FBINT_FUNCTION(asin)(x)
#define FBINT_ACOS(x) FBINT_FUNCTION(acos)(x)
#define FBINT_ATAN(x) FBINT_FUNCTION(atan)(x)
#define FBINT_SINH(x) FBINT_FUNCTION(sinh)(x)
#define FBINT_COSH(x) FBINT_FUNCTION(cosh)(x)
#define FBINT_TANH(x) FBINT_FUNCTION(tanh)(x)
#define FBINT_EXP(x) FBINT_FUNCTION(exp)(x)
#define FBINT_LOG(x) FBINT_FUNCTION(log)(x)
#define FBINT_ATAN2(y, x) FBINT_FUNCTION(atan2)(y, x)
#define FBINT_POW(x, y) FBINT_FUNCTION(pow)(x, y)

