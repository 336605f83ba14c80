/* written by fbint @version@
 *
 * Functions that `casadi.external` loads from a library: `f` gives the rates of x from x, u and p, `g` the outputs and `F` the integrals.
 * There are their Jacobians, products with them from either side, and derivatives of the products, which Hessians and sensitivities of
 * integrators take. All are exact but these last, which are central differences of exact products. acados takes `f` as `expl_ode_fun`, and
 * `expl_vde_forw`. */
#include <math.h>
#include <string.h>

#include "@prefix@.h"

#ifndef casadi_real
#define casadi_real double
#endif
#ifndef casadi_int
#define casadi_int long long int
#endif

#ifdef _WIN32
#define CASADI_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define CASADI_EXPORT __attribute__((visibility("default")))
#else
#define CASADI_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a function is called with: x, u and p, of which a null pointer stands for zeros. */
typedef struct given {
    model_parameters parameters;
    model_system system;
    real x[@state_room@];
} given;

static void get(const casadi_real *from, real *to, int count)
{
    int i;
    for (i = 0; i < count; ++i) {
        to[i] = from == 0 ? (real)0 : (real)from[i];
    }
}

static void put(const real *from, casadi_real *to, int count)
{
    int i;
    for (i = 0; to != 0 && i < count; ++i) {
        to[i] = from[i];
    }
}

/* At x, u and p, moved by a part of three directions if there are any. */
static void prepare_at(given *given, const casadi_real **arguments, const casadi_real **directions, real part)
{
    real p[@parameter_room@], u[@input_room@];
    real *const to[3] = { given->x, u, p };
    const int counts[3] = { MODEL_STATES, MODEL_INPUTS, MODEL_PARAMETERS };
    int list, i;
    for (list = 0; list < 3; ++list) {
        get(arguments[list], to[list], counts[list]);
        for (i = 0; directions != 0 && directions[list] != 0 && i < counts[list]; ++i) {
            to[list][i] += part * (real)directions[list][i];
        }
    }
    memcpy(&given->parameters, p, MODEL_PARAMETERS * sizeof *p);
    model_prepare(&given->parameters, &given->system);
    memcpy(given->system.u, u, MODEL_INPUTS * sizeof *u);
}

typedef void value_function(const model_system *, const real *, real *);
typedef void tangent_function(const model_system *, const real *, const model_direction *, real *, real *);
typedef void adjoint_function(const model_system *, const real *, const real *, real *);

/* A function of x, u and p, with the blocks of its Jacobian by each of them, and the block of each derivative with its place there. */
typedef struct function {
    value_function *value, *derivatives;
    tangent_function *tangent;
    adjoint_function *adjoint;
    int count, entries;
    const int *blocks, *order;
    casadi_int result[3];
    const casadi_int *by[3];
} function;

enum { ROOM = @most_room@ > @unknown_room@ ? @most_room@ : @unknown_room@ };

@functions@
/* The sparsity of an argument or a result: `x`, `u` and `p`, the result `r` of the function, the blocks `X`, `U` and `P` of its Jacobian, and
 * the derivatives `S` of x by its start and `T` by u. Columns are dense: rows, columns, a mark. */
static const casadi_int *sparsity(const function *of, casadi_int place, const char *kinds)
{
    static const casadi_int x[3] = { MODEL_STATES, 1, 1 }, u[3] = { MODEL_INPUTS, 1, 1 }, p[3] = { MODEL_PARAMETERS, 1, 1 };
    static const casadi_int S[3] = { MODEL_STATES, MODEL_STATES, 1 }, T[3] = { MODEL_STATES, MODEL_INPUTS, 1 };
    switch (place >= 0 && place < (casadi_int)strlen(kinds) ? kinds[place] : ' ') {
    case 'x': return x;
    case 'u': return u;
    case 'p': return p;
    case 'r': return of->result;
    case 'X': return of->by[0];
    case 'U': return of->by[1];
    case 'P': return of->by[2];
    case 'S': return S;
    case 'T': return T;
    default: return 0;
    }
}

static void put_value(const function *of, const casadi_real **arg, casadi_real **res)
{
    given given;
    real result[@most_room@];
    prepare_at(&given, arg, 0, 0);
    of->value(&given.system, given.x, result);
    put(result, res[0], of->count);
}

static void put_jacobian(const function *of, const casadi_real **arg, casadi_real **res)
{
    given given;
    real result[@entries_room@];
    int i;
    prepare_at(&given, arg, 0, 0);
    of->derivatives(&given.system, given.x, result);
    for (i = 0; i < of->entries; ++i) {
        casadi_real *const block = res[of->blocks[i]];
        if (block != 0) {
            block[of->order[i]] = result[i];
        }
    }
}

/* A product with the Jacobian at a point that `prepare_at` describes. */
typedef void product(const function *of, const casadi_real **arg, const casadi_real **direction, real part,
    const casadi_real **seeds, real *result);

/* Df v for the seeds of x, u and p. */
static void forward(const function *of, const casadi_real **arg, const casadi_real **direction, real part,
    const casadi_real **seeds, real *result)
{
    given given;
    model_direction v;
    real values[@most_room@];
    prepare_at(&given, arg, direction, part);
    get(seeds[0], v.x, MODEL_STATES);
    get(seeds[1], v.u, MODEL_INPUTS);
    get(seeds[2], v.p, MODEL_PARAMETERS);
    model_prepare_direction(&given.parameters, &given.system, &v);
    of->tangent(&given.system, given.x, &v, values, result);
}

/* Df^T w for the seed of the result. */
static void backward(const function *of, const casadi_real **arg, const casadi_real **direction, real part,
    const casadi_real **seeds, real *result)
{
    given given;
    real weights[@most_room@];
    prepare_at(&given, arg, direction, part);
    get(seeds[0], weights, of->count);
    of->adjoint(&given.system, given.x, weights, result);
}

static real largest_of(const casadi_real *at, const casadi_real *direction, int count, real largest)
{
    int i;
    for (i = 0; direction != 0 && i < count; ++i) {
        const casadi_real size = at == 0 ? 0 : fabs(at[i]), speed = fabs(direction[i]) / (1 + size);
        largest = speed > largest ? (real)speed : largest;
    }
    return largest;
}

/* The change of a product along a direction of x, u and p, by central differences, and of its seeds. The arguments are x, u, p, a result,
 * the seeds at place 4 and the products, and the direction of each but the products from place 8 on. */
static void change(product *of_seeds, const function *of, const casadi_real **arg, real *result)
{
    const casadi_real **const direction = arg + 8;
    real fastest, part, above[ROOM], below[ROOM];
    int i;
    fastest = largest_of(arg[0], direction[0], MODEL_STATES, 0);
    fastest = largest_of(arg[1], direction[1], MODEL_INPUTS, fastest);
    fastest = largest_of(arg[2], direction[2], MODEL_PARAMETERS, fastest);
    of_seeds(of, arg, 0, 0, arg + 12, result);
    if (fastest > 0) {
        part = (real)6e-6 / fastest;
        of_seeds(of, arg, direction, part, arg + 4, above);
        of_seeds(of, arg, direction, -part, arg + 4, below);
        for (i = 0; i < (of_seeds == forward ? of->count : MODEL_STATES + MODEL_PARAMETERS + MODEL_INPUTS); ++i) {
            result[i] += (above[i] - below[i]) / (2 * part);
        }
    }
}

/* Df^T w, in parts for x, u and p. */
static void put_parts(const real *from, casadi_real **res)
{
    put(from, res[0], MODEL_STATES);
    put(from + MODEL_STATES + MODEL_PARAMETERS, res[1], MODEL_INPUTS);
    put(from + MODEL_STATES, res[2], MODEL_PARAMETERS);
}

static void put_forward(const function *of, const casadi_real **arg, casadi_real **res)
{
    real result[ROOM];
    forward(of, arg, 0, 0, arg + 4, result);
    put(result, res[0], of->count);
}

static void put_backward(const function *of, const casadi_real **arg, casadi_real **res)
{
    real result[ROOM];
    backward(of, arg, 0, 0, arg + 4, result);
    put_parts(result, res);
}

static void put_change_of_forward(const function *of, const casadi_real **arg, casadi_real **res)
{
    real result[ROOM];
    change(forward, of, arg, result);
    put(result, res[0], of->count);
}

static void put_change_of_backward(const function *of, const casadi_real **arg, casadi_real **res)
{
    real result[ROOM];
    change(backward, of, arg, result);
    put_parts(result, res);
}

/* The Jacobian by x times columns, and where these are by u, the Jacobian by u. */
static void put_columns(const real *jacobian, const casadi_real *columns, int count, int is_by_input, casadi_real *rates)
{
    int i, column;
    memset(rates, 0, (size_t)(MODEL_STATES * count) * sizeof *rates);
    for (i = 0; i < MODEL_VECTOR_FIELD_DERIVATIVES; ++i) {
        casadi_real *const row = rates + model_vector_field_derivatives_rows[i];
        const int by = model_vector_field_derivatives_columns[i], input = by - MODEL_STATES - MODEL_PARAMETERS;
        for (column = 0; columns != 0 && by < MODEL_STATES && column < count; ++column) {
            row[column * MODEL_STATES] += jacobian[i] * columns[column * MODEL_STATES + by];
        }
        if (is_by_input && input >= 0) {
            row[input * MODEL_STATES] += jacobian[i];
        }
    }
}

/* For explicit integrators of acados, from x, Sx, Su, u and p: the rates of x and of Sx and Su, its derivatives by its start and by u. */
static void put_variations(const function *of, const casadi_real **arg, casadi_real **res)
{
    const casadi_real *own[3];
    real jacobian[@entries_room@];
    given given;
    own[0] = arg[0];
    own[1] = arg[3];
    own[2] = arg[4];
    put_value(of, own, res);
    prepare_at(&given, own, 0, 0);
    of->derivatives(&given.system, given.x, jacobian);
    if (res[1] != 0) {
        put_columns(jacobian, arg[1], MODEL_STATES, 0, res[1]);
    }
    if (res[2] != 0) {
        put_columns(jacobian, arg[2], MODEL_INPUTS, 1, res[2]);
    }
}

/* A function for CasADi, with the kinds of its arguments and results. It needs no room but for their lists. */
#define EXPORTED(name, of, puts, arguments, results) \
    CASADI_EXPORT int name(const casadi_real **arg, casadi_real **res, casadi_int *iw, casadi_real *w, int mem) \
    { \
        (void)iw, (void)w, (void)mem; \
        puts(&of, arg, res); \
        return 0; \
    } \
    CASADI_EXPORT casadi_int name##_n_in(void) \
    { \
        return sizeof arguments - 1; \
    } \
    CASADI_EXPORT casadi_int name##_n_out(void) \
    { \
        return sizeof results - 1; \
    } \
    CASADI_EXPORT int name##_work(casadi_int *sz_arg, casadi_int *sz_res, casadi_int *sz_iw, casadi_int *sz_w) \
    { \
        if (sz_arg != 0) *sz_arg = name##_n_in(); \
        if (sz_res != 0) *sz_res = name##_n_out(); \
        if (sz_iw != 0) *sz_iw = 0; \
        if (sz_w != 0) *sz_w = 0; \
        return 0; \
    } \
    CASADI_EXPORT void name##_incref(void) \
    { \
    } \
    CASADI_EXPORT void name##_decref(void) \
    { \
    } \
    CASADI_EXPORT const casadi_int *name##_sparsity_in(casadi_int place) \
    { \
        return sparsity(&of, place, arguments); \
    } \
    CASADI_EXPORT const casadi_int *name##_sparsity_out(casadi_int place) \
    { \
        return sparsity(&of, place, results); \
    }

static const char *const unnamed = 0;

/* A function with the names of its arguments, the last for its Jacobian alone, and its results. */
#define NAMED(name, of, puts, arguments, results, last, first, second, third) \
    EXPORTED(name, of, puts, arguments, results) \
    CASADI_EXPORT const char *name##_name_in(casadi_int place) \
    { \
        return place == 0 ? "x" : place == 1 ? "u" : place == 2 ? "p" : place == 3 ? last : 0; \
    } \
    CASADI_EXPORT const char *name##_name_out(casadi_int place) \
    { \
        return place == 0 ? first : place == 1 ? second : place == 2 ? third : 0; \
    }

/* A function with its derivatives. Those of fwd1 and adj1 have the arguments and results of these, and a direction of each argument. */
#define FUNCTION(name, of, result) \
    NAMED(name, of, put_value, "xup", "r", unnamed, result, unnamed, unnamed) \
    NAMED(jac_##name, of, put_jacobian, "xupr", "XUP", "out_" result, "jac_" result "_x", "jac_" result "_u", "jac_" result "_p") \
    EXPORTED(fwd1_##name, of, put_forward, "xuprxup", "r") \
    EXPORTED(adj1_##name, of, put_backward, "xuprr", "xup") \
    EXPORTED(fwd1_fwd1_##name, of, put_change_of_forward, "xuprxuprxuprxup", "r") \
    EXPORTED(fwd1_adj1_##name, of, put_change_of_backward, "xuprrxupxuprr", "xup")

FUNCTION(f, of_f, "rates")
FUNCTION(g, of_g, "outputs")
FUNCTION(F, of_F, "integrals")
EXPORTED(expl_vde_forw, of_f, put_variations, "xSTup", "xST")

#ifdef __cplusplus
}
#endif
