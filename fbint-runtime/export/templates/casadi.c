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

static void prepare(given *given, const casadi_real **arguments)
{
    prepare_at(given, arguments, 0, 0);
}

/* Dense columns: rows, columns, a mark. */
static const casadi_int x_sparsity[3] = { MODEL_STATES, 1, 1 };
static const casadi_int u_sparsity[3] = { MODEL_INPUTS, 1, 1 };
static const casadi_int p_sparsity[3] = { MODEL_PARAMETERS, 1, 1 };
static const casadi_int g_sparsity[3] = { MODEL_OUTPUTS, 1, 1 };
static const casadi_int F_sparsity[3] = { MODEL_INTEGRALS, 1, 1 };

static const casadi_int *input_sparsity(casadi_int place)
{
    return place == 0 ? x_sparsity : place == 1 ? u_sparsity : place == 2 ? p_sparsity : 0;
}

static const char *input_name(casadi_int place)
{
    return place == 0 ? "x" : place == 1 ? "u" : place == 2 ? "p" : 0;
}

/* How much room a function needs: none but for the lists of its arguments and results. */
#define WORK(function, arguments, results) \
    CASADI_EXPORT int function##_work(casadi_int *sz_arg, casadi_int *sz_res, casadi_int *sz_iw, casadi_int *sz_w) \
    { \
        if (sz_arg != 0) *sz_arg = arguments; \
        if (sz_res != 0) *sz_res = results; \
        if (sz_iw != 0) *sz_iw = 0; \
        if (sz_w != 0) *sz_w = 0; \
        return 0; \
    } \
    CASADI_EXPORT casadi_int function##_n_in(void) \
    { \
        return arguments; \
    } \
    CASADI_EXPORT casadi_int function##_n_out(void) \
    { \
        return results; \
    } \
    CASADI_EXPORT void function##_incref(void) \
    { \
    } \
    CASADI_EXPORT void function##_decref(void) \
    { \
    }

/* A function of x, u and p with one result. */
#define FUNCTION(function, name, count, room, source) \
    CASADI_EXPORT int function(const casadi_real **arg, casadi_real **res, casadi_int *iw, casadi_real *w, int mem) \
    { \
        given given; \
        real result[room]; \
        (void)iw, (void)w, (void)mem; \
        prepare(&given, arg); \
        source(&given.system, given.x, result); \
        put(result, res[0], count); \
        return 0; \
    } \
    WORK(function, 3, 1) \
    CASADI_EXPORT const char *function##_name_in(casadi_int place) \
    { \
        return input_name(place); \
    } \
    CASADI_EXPORT const char *function##_name_out(casadi_int place) \
    { \
        return place == 0 ? name : 0; \
    } \
    CASADI_EXPORT const casadi_int *function##_sparsity_in(casadi_int place) \
    { \
        return input_sparsity(place); \
    } \
    CASADI_EXPORT const casadi_int *function##_sparsity_out(casadi_int place) \
    { \
        return place == 0 ? function##_result : 0; \
    }

#define f_result x_sparsity
#define g_result g_sparsity
#define F_result F_sparsity
FUNCTION(f, "rates", MODEL_STATES, @state_room@, model_vector_field)
FUNCTION(g, "outputs", MODEL_OUTPUTS, @output_room@, model_outputs)
FUNCTION(F, "integrals", MODEL_INTEGRALS, @integral_room@, model_integrals)

/* The Jacobian, its blocks by x, u and p: entries column by column, in the places that `order` has for them. */
#define JACOBIAN(function, name, source, entries, room, first, second, third) \
    CASADI_EXPORT int jac_##function(const casadi_real **arg, casadi_real **res, casadi_int *iw, casadi_real *w, int mem) \
    { \
        given given; \
        real result[room]; \
        int i; \
        (void)iw, (void)w, (void)mem; \
        prepare(&given, arg); \
        source##_derivatives(&given.system, given.x, result); \
        for (i = 0; i < entries; ++i) { \
            casadi_real *const block = res[function##_blocks[i]]; \
            if (block != 0) { \
                block[function##_order[i]] = result[i]; \
            } \
        } \
        return 0; \
    } \
    WORK(jac_##function, 4, 3) \
    CASADI_EXPORT const char *jac_##function##_name_in(casadi_int place) \
    { \
        return place == 3 ? "out_" name : input_name(place); \
    } \
    CASADI_EXPORT const char *jac_##function##_name_out(casadi_int place) \
    { \
        return place == 0 ? first : place == 1 ? second : place == 2 ? third : 0; \
    } \
    CASADI_EXPORT const casadi_int *jac_##function##_sparsity_in(casadi_int place) \
    { \
        return place == 3 ? function##_result : input_sparsity(place); \
    } \
    CASADI_EXPORT const casadi_int *jac_##function##_sparsity_out(casadi_int place) \
    { \
        return place == 0 ? function##_by_x : place == 1 ? function##_by_u : place == 2 ? function##_by_p : 0; \
    }

@jacobians@
typedef void tangent(const model_system *, const real *, const model_direction *, real *, real *);
typedef void adjoint(const model_system *, const real *, const real *, real *);

/* Df v for the seeds of x, u and p, at a point that `prepare_at` describes. */
static void product(const casadi_real **arguments, const casadi_real **directions, real part, const casadi_real **seeds,
    tangent *source, real *change)
{
    given given;
    model_direction direction;
    real result[@most_room@];
    prepare_at(&given, arguments, directions, part);
    get(seeds[0], direction.x, MODEL_STATES);
    get(seeds[1], direction.u, MODEL_INPUTS);
    get(seeds[2], direction.p, MODEL_PARAMETERS);
    model_prepare_direction(&given.parameters, &given.system, &direction);
    source(&given.system, given.x, &direction, result, change);
}

/* One direction forward: the seeds are behind the result of the function. */
#define FORWARD(function, count, source) \
    CASADI_EXPORT int fwd1_##function(const casadi_real **arg, casadi_real **res, casadi_int *iw, casadi_real *w, int mem) \
    { \
        real change[@most_room@]; \
        (void)iw, (void)w, (void)mem; \
        product(arg, 0, 0, arg + 4, source##_tangent, change); \
        put(change, res[0], count); \
        return 0; \
    } \
    WORK(fwd1_##function, 7, 1) \
    CASADI_EXPORT const casadi_int *fwd1_##function##_sparsity_in(casadi_int place) \
    { \
        return place == 3 ? function##_result : input_sparsity(place > 3 ? place - 4 : place); \
    } \
    CASADI_EXPORT const casadi_int *fwd1_##function##_sparsity_out(casadi_int place) \
    { \
        return place == 0 ? function##_result : 0; \
    }

/* One direction backward: Df^T w, in parts for x, u and p. */
#define REVERSE(function, count, room, source) \
    CASADI_EXPORT int adj1_##function(const casadi_real **arg, casadi_real **res, casadi_int *iw, casadi_real *w, int mem) \
    { \
        given given; \
        real weights[room], result[@unknown_room@]; \
        (void)iw, (void)w, (void)mem; \
        prepare(&given, arg); \
        get(arg[4], weights, count); \
        source##_adjoint(&given.system, given.x, weights, result); \
        put(result, res[0], MODEL_STATES); \
        put(result + MODEL_STATES + MODEL_PARAMETERS, res[1], MODEL_INPUTS); \
        put(result + MODEL_STATES, res[2], MODEL_PARAMETERS); \
        return 0; \
    } \
    WORK(adj1_##function, 5, 3) \
    CASADI_EXPORT const casadi_int *adj1_##function##_sparsity_in(casadi_int place) \
    { \
        return place >= 3 ? function##_result : input_sparsity(place); \
    } \
    CASADI_EXPORT const casadi_int *adj1_##function##_sparsity_out(casadi_int place) \
    { \
        return input_sparsity(place); \
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

/* The part of directions of x, u and p by which differences are taken, or 0 if all are 0. */
static real part_of(const casadi_real **arg, const casadi_real **directions)
{
    real fastest = largest_of(arg[0], directions[0], MODEL_STATES, 0);
    fastest = largest_of(arg[1], directions[1], MODEL_INPUTS, fastest);
    fastest = largest_of(arg[2], directions[2], MODEL_PARAMETERS, fastest);
    return fastest > 0 ? (real)6e-6 / fastest : 0;
}

/* The change of Df v along directions of x, u, p and v: central differences of the exact product. */
static void change_of_tangent(const casadi_real **arg, tangent *source, int count, real *result)
{
    const casadi_real **const directions = arg + 8;
    const real part = part_of(arg, directions);
    real above[@most_room@], below[@most_room@];
    int i;
    product(arg, 0, 0, arg + 12, source, result);
    if (part > 0) {
        product(arg, directions, part, arg + 4, source, above);
        product(arg, directions, -part, arg + 4, source, below);
        for (i = 0; i < count; ++i) {
            result[i] += (above[i] - below[i]) / (2 * part);
        }
    }
}

/* The change of Df^T w along directions of x, u, p and w, likewise. */
static void change_of_adjoint(const casadi_real **arg, adjoint *source, int count, real *result)
{
    const casadi_real **const directions = arg + 8;
    const real part = part_of(arg, directions);
    real weights[@most_room@], above[@unknown_room@], below[@unknown_room@];
    given given;
    int i;
    prepare(&given, arg);
    get(arg[12], weights, count);
    source(&given.system, given.x, weights, result);
    if (part > 0) {
        get(arg[4], weights, count);
        prepare_at(&given, arg, directions, part);
        source(&given.system, given.x, weights, above);
        prepare_at(&given, arg, directions, -part);
        source(&given.system, given.x, weights, below);
        for (i = 0; i < MODEL_STATES + MODEL_PARAMETERS + MODEL_INPUTS; ++i) {
            result[i] += (above[i] - below[i]) / (2 * part);
        }
    }
}

/* The same as functions: the arguments and results of fwd1 or adj1, then a direction of each argument. */
#define SECOND(function, count, source) \
    CASADI_EXPORT int fwd1_fwd1_##function(const casadi_real **arg, casadi_real **res, casadi_int *iw, casadi_real *w, int mem) \
    { \
        real result[@most_room@]; \
        (void)iw, (void)w, (void)mem; \
        change_of_tangent(arg, source##_tangent, count, result); \
        put(result, res[0], count); \
        return 0; \
    } \
    WORK(fwd1_fwd1_##function, 15, 1) \
    CASADI_EXPORT const casadi_int *fwd1_fwd1_##function##_sparsity_in(casadi_int place) \
    { \
        const casadi_int input = place % 4; \
        return input < 3 ? input_sparsity(input) : function##_result; \
    } \
    CASADI_EXPORT const casadi_int *fwd1_fwd1_##function##_sparsity_out(casadi_int place) \
    { \
        return place == 0 ? function##_result : 0; \
    } \
    CASADI_EXPORT int fwd1_adj1_##function(const casadi_real **arg, casadi_real **res, casadi_int *iw, casadi_real *w, int mem) \
    { \
        real result[@unknown_room@]; \
        (void)iw, (void)w, (void)mem; \
        change_of_adjoint(arg, source##_adjoint, count, result); \
        put(result, res[0], MODEL_STATES); \
        put(result + MODEL_STATES + MODEL_PARAMETERS, res[1], MODEL_INPUTS); \
        put(result + MODEL_STATES, res[2], MODEL_PARAMETERS); \
        return 0; \
    } \
    WORK(fwd1_adj1_##function, 13, 3) \
    CASADI_EXPORT const casadi_int *fwd1_adj1_##function##_sparsity_in(casadi_int place) \
    { \
        const casadi_int input = place < 5 ? place : place < 8 ? place - 5 : place - 8; \
        return input < 3 ? input_sparsity(input) : function##_result; \
    } \
    CASADI_EXPORT const casadi_int *fwd1_adj1_##function##_sparsity_out(casadi_int place) \
    { \
        return input_sparsity(place); \
    }

#define BOTH(function, count, room, source) \
    FORWARD(function, count, source) \
    REVERSE(function, count, room, source) \
    SECOND(function, count, source)
BOTH(f, MODEL_STATES, @state_room@, model_vector_field)
BOTH(g, MODEL_OUTPUTS, @output_room@, model_outputs)
BOTH(F, MODEL_INTEGRALS, @integral_room@, model_integrals)

/* What explicit integrators of acados call, of x, Sx, Su, u and p: the rates of x and of Sx and Su, its derivatives by its start and by u. */
static const casadi_int Sx_sparsity[3] = { MODEL_STATES, MODEL_STATES, 1 };
static const casadi_int Su_sparsity[3] = { MODEL_STATES, MODEL_INPUTS, 1 };

/* The Jacobian by x times columns, and where these are by u, the Jacobian by u. */
static void rates_of_columns(const real *jacobian, const casadi_real *columns, int count, int is_by_input, casadi_real *rates)
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

CASADI_EXPORT int expl_vde_forw(const casadi_real **arg, casadi_real **res, casadi_int *iw, casadi_real *w, int mem)
{
    const casadi_real *own[3];
    real result[@state_room@], jacobian[MODEL_VECTOR_FIELD_DERIVATIVES + 1];
    given given;
    (void)iw, (void)w, (void)mem;
    own[0] = arg[0];
    own[1] = arg[3];
    own[2] = arg[4];
    prepare(&given, own);
    model_vector_field(&given.system, given.x, result);
    put(result, res[0], MODEL_STATES);
    model_vector_field_derivatives(&given.system, given.x, jacobian);
    if (res[1] != 0) {
        rates_of_columns(jacobian, arg[1], MODEL_STATES, 0, res[1]);
    }
    if (res[2] != 0) {
        rates_of_columns(jacobian, arg[2], MODEL_INPUTS, 1, res[2]);
    }
    return 0;
}
WORK(expl_vde_forw, 5, 3)

CASADI_EXPORT const casadi_int *expl_vde_forw_sparsity_in(casadi_int place)
{
    return place == 1 ? Sx_sparsity : place == 2 ? Su_sparsity : input_sparsity(place == 0 ? 0 : place - 2);
}

CASADI_EXPORT const casadi_int *expl_vde_forw_sparsity_out(casadi_int place)
{
    return place == 0 ? x_sparsity : place == 1 ? Sx_sparsity : place == 2 ? Su_sparsity : 0;
}

#ifdef __cplusplus
}
#endif
