
/* x + factor v */
static void model_add(real *result, const real *x, real factor, const real *v)
{
    int i;
    for (i = 0; i < MODEL_STATES; ++i) {
        result[i] = FBINT_FMA(factor, v[i], x[i]);
    }
}

/* An end of a step, and how it was projected. */
typedef struct model_landing {
    real x[@state_room@], correction[@state_room@];
    real found[@integral_room@], left[@integral_room@], noise[@integral_room@];
} model_landing;

static int model_is_closer(const model_landing *landing, const real *left)
{
    int i, all = 1;
    for (i = 0; i < MODEL_INTEGRALS; ++i) {
        const real found = landing->found[i];
        all &= left[i] * left[i] <= model_larger(FBINT_LEFT * found * found, FBINT_ROUNDING * landing->noise[i]);
    }
    return all;
}

static void model_violation(const model_run *run, const real *x, real *violation)
{
    int i;
    model_integrals(&run->system, x, violation);
    for (i = 0; i < MODEL_INTEGRALS; ++i) {
        violation[i] -= run->targets[i];
    }
}

/* Projects the end of a step, unless all that its integrals are off by is rounding. */
static void model_hold(const model_run *run, const real *variances, const real *end, real h, model_landing *landing)
{
    int i, is_rounding = 1;
    for (i = 0; i < MODEL_INTEGRALS; ++i) {
        landing->noise[i] = FBINT_FMA(h * h, run->noise_by_field[i], run->noise[i]);
    }
    model_projection(&run->system, end, variances, landing->noise, run->targets, landing->found, landing->correction);
    for (i = 0; i < MODEL_INTEGRALS; ++i) {
        is_rounding &= landing->found[i] * landing->found[i] <= FBINT_ROUNDING * landing->noise[i];
        landing->left[i] = landing->found[i];
    }
    for (i = 0; i < MODEL_STATES; ++i) {
        landing->correction[i] = is_rounding ? R(0.0) : landing->correction[i];
        landing->x[i] = is_rounding ? end[i] : end[i] - landing->correction[i];
    }
    if (!is_rounding) {
        model_violation(run, landing->x, landing->left);
    }
}

/* The largest square of a move in units of its variance, which has as many roundings of its variable added. */
static real model_furthest_of(const model_landing *landing, const real *variances, real roundings)
{
    real largest = R(0.0);
    int i;
    for (i = 0; i < MODEL_STATES; ++i) {
        const real distance = landing->correction[i];
        const real rounding =
            roundings > R(0.0) ? roundings * FBINT_EPSILON * model_size_of_variable(landing->x, i) : R(0.0);
        const real square = distance * distance / (variances[i] + rounding * rounding);
        if (square > largest) {
            largest = square;
        } else if (!(square <= largest) && distance != R(0.0)) {
            largest = FBINT_UNBOUNDED;
        }
    }
    largest = FBINT_SQRT(largest);
    return largest * largest;
}

static real model_furthest(const model_landing *landing, const real *variances)
{
    const real furthest = model_furthest_of(landing, variances, R(0.0));
    return furthest <= FBINT_MOST ? furthest : model_furthest_of(landing, variances, R(1024.0));
}

static real model_distance(const model_landing *landing, const real *left)
{
    real sum = R(0.0);
    int i;
    for (i = 0; i < MODEL_INTEGRALS; ++i) {
        sum += left[i] * left[i] / landing->noise[i];
    }
    return sum;
}

/* Goes a part of the way that the linearised equations say, halved until it leads closer; returns whether it does. */
static int model_go_closer(const model_run *run, const real *variances, model_landing *landing)
{
    real way[@state_room@], next[@state_room@], left[@integral_room@];
    const real here = model_distance(landing, landing->left);
    real part;
    int i;
    model_projection(&run->system, landing->x, variances, landing->noise, run->targets, left, way);
    for (part = R(1.0); part >= R(1.0 / 64.0); part *= R(0.5)) {
        for (i = 0; i < MODEL_STATES; ++i) {
            next[i] = landing->x[i] - part * way[i];
        }
        model_violation(run, next, left);
        if (model_distance(landing, left) < here) {
            memcpy(landing->x, next, sizeof next);
            memcpy(landing->left, left, sizeof left);
            return 1;
        }
    }
    return 0;
}

/* Several steps towards the targets; returns whether they bring every integral closer, and are in proportion. */
static int model_damp(const model_run *run, const real *variances, const real *end, model_landing *landing)
{
    int i, steps = 0;
    memcpy(landing->x, end, MODEL_STATES * sizeof *end);
    memcpy(landing->left, landing->found, sizeof landing->found);
    while (steps < 12 && model_go_closer(run, variances, landing)) {
        ++steps;
    }
    for (i = 0; i < MODEL_STATES; ++i) {
        landing->correction[i] = end[i] - landing->x[i];
    }
    return model_is_closer(landing, landing->left) && model_furthest(landing, variances) <= FBINT_MOST;
}

/* Rounding of the terms that integrals have at the end of a step, which may have grown since the start. */
static void model_raise_noise(model_run *run, const real *end)
{
    real own[@integral_room@];
    int i;
    model_noise_of_integrals(&run->system, end, run->targets, own);
    for (i = 0; i < MODEL_INTEGRALS; ++i) {
        run->noise[i] = own[i] < FBINT_UNBOUNDED ? model_larger(own[i], run->noise[i]) : run->noise[i];
    }
}

/* Ends a step about whose projection there is a doubt. */
static int model_settle(model_run *run, const real *variances, const real *switching, const real *end, real h, real *x)
{
    model_landing landing;
    real furthest;
    int i, is_finite = 1;
    model_hold(run, variances, end, h, &landing);
    memcpy(x, landing.x, MODEL_STATES * sizeof *x);
    if (model_furthest(&landing, variances) <= FBINT_USUAL && model_is_closer(&landing, landing.left)) {
        return 0;
    }
    model_raise_noise(run, end);
    model_hold(run, switching, end, h, &landing);
    memcpy(x, landing.x, MODEL_STATES * sizeof *x);
    furthest = model_furthest(&landing, switching);
    if (furthest <= FBINT_MOST && model_is_closer(&landing, landing.left)) {
        return 0;
    }
    for (i = 0; i < MODEL_STATES; ++i) {
        is_finite &= model_is_finite(end[i]);
    }
    if (is_finite && furthest <= FBINT_MOST && model_damp(run, switching, end, &landing)) {
        memcpy(x, landing.x, MODEL_STATES * sizeof *x);
        return 0;
    }
    memcpy(x, end, MODEL_STATES * sizeof *x);
    if (is_finite) {
        model_targets(&run->system, end, run->targets);
        model_noise_of_integrals(&run->system, end, run->targets, run->noise);
    }
    return 1;
}

/* The squares of the error of a step and of rounding, where `weights` make the error from its stages and, last, the field at its end. */
static void model_squares(const model_run *run, const real *weights, int stages, real (*k)[@state_room@], const real *end,
    real h, real *squares)
{
    int i, stage;
    for (i = 0; i < MODEL_STATES; ++i) {
        const real rounding = FBINT_EPSILON * end[i], by_field = h * h * run->entries_by_field[i];
        real sum = R(-0.0);
        for (stage = 0; stage < stages; ++stage) {
            sum = weights[stage] != R(0.0) ? FBINT_FMA(weights[stage], k[stage][i], sum) : sum;
        }
        sum = h * (weights[stages] != R(0.0) ? FBINT_FMA(weights[stages], run->derivative[i], sum) : sum);
        squares[i] = FBINT_FMA(sum, sum, FBINT_FMA(rounding, rounding, by_field));
        squares[i] = model_role[i] == 1 ? R(0.0) : model_role[i] == 2 ? FBINT_UNBOUNDED : squares[i];
    }
}

/* What a method is, besides its stages. */
typedef struct model_method {
    int stages;
    real error[5], error_of_switching[5];
} model_method;

/* Projects the end of a step, which errs by about as much as those before. */
static int model_land(model_run *run, const model_method *method, real (*k)[@state_room@], real h, real *x)
{
    model_landing landing;
    real end[@state_room@], mean[@state_room@], squares[@state_room@], switching[@state_room@], variances[@state_room@];
    int i, is_finite = 1, is_usual;
    memcpy(end, x, sizeof end);
    memcpy(mean, run->mean, sizeof mean);
    model_hold(run, mean, end, h, &landing);
    is_usual = model_is_closer(&landing, landing.left);
    model_rates(run, end, run->derivative);
    run->has_derivative = 1;
    model_squares(run, MODEL_CLOCK >= 0 ? method->error_of_switching : method->error, method->stages, k, end, h, squares);
    for (i = 0; i < MODEL_STATES; ++i) {
        const real correction = landing.correction[i];
        is_usual &= (correction * correction <= FBINT_USUAL * mean[i]) & (squares[i] <= FBINT_SPIKE * mean[i]);
        is_finite &= model_is_finite(run->derivative[i]);
        run->mean[i] = FBINT_FMA(FBINT_LAST, squares[i] - mean[i], mean[i]);
    }
    memcpy(x, landing.x, sizeof end);
    if (is_usual) {
        return 0;
    }
    model_squares(run, method->error_of_switching, method->stages, k, end, h, switching);
    for (i = 0; i < MODEL_STATES; ++i) {
        const int is_spike = squares[i] > FBINT_SPIKE * mean[i];
        variances[i] = is_spike ? squares[i] : mean[i];
        switching[i] = model_larger(model_larger(switching[i], squares[i]), mean[i]);
        run->mean[i] = !is_finite ? mean[i] : is_spike ? squares[i] : run->mean[i];
    }
    run->has_derivative = is_finite;
    return model_settle(run, variances, switching, end, h, x);
}

static int model_end_step(model_run *run, const model_method *method, real (*k)[@state_room@], real h, real time, real *x)
{
    model_set_clock(x, time);
    return run->is_projected ? model_land(run, method, k, h, x) : 0;
}

/* The field where a step begins. */
static void model_first(model_run *run, const real *x, real *k)
{
    if (run->is_projected && run->has_derivative) {
        memcpy(k, run->derivative, MODEL_STATES * sizeof *k);
    } else {
        model_rates(run, x, k);
    }
}

int model_step_euler(model_run *run, real *x, real h, real time)
{
    static const model_method method = { 1, { R(-1.0), R(1.0) }, { R(-1.0), R(1.0) } };
    real k[1][@state_room@];
    model_first(run, x, k[0]);
    model_add(x, x, h, k[0]);
    return model_end_step(run, &method, k, h, time, x);
}

int model_step_heun(model_run *run, real *x, real h, real time)
{
    static const model_method method = { 2, { R(0.0), R(-1.0), R(1.0) }, { R(0.125), R(-1.125), R(1.0) } };
    real k[2][@state_room@], point[@state_room@];
    int i;
    model_first(run, x, k[0]);
    model_add(point, x, h, k[0]);
    model_rates(run, point, k[1]);
    for (i = 0; i < MODEL_STATES; ++i) {
        point[i] = k[0][i] + k[1][i];
    }
    model_add(x, x, h * R(0.5), point);
    return model_end_step(run, &method, k, h, time, x);
}

int model_step_rk4(model_run *run, real *x, real h, real time)
{
    static const model_method method = {
        4, { R(0.0), R(0.0), R(0.0), R(-1.0), R(1.0) }, { R(0.125), R(-0.125), R(-0.125), R(-0.875), R(1.0) }
    };
    real k[4][@state_room@], point[@state_room@];
    int i;
    model_first(run, x, k[0]);
    model_add(point, x, h * R(0.5), k[0]);
    model_rates(run, point, k[1]);
    model_add(point, x, h * R(0.5), k[1]);
    model_rates(run, point, k[2]);
    model_add(point, x, h, k[2]);
    model_rates(run, point, k[3]);
    for (i = 0; i < MODEL_STATES; ++i) {
        const real inner = k[1][i] + k[2][i];
        point[i] = FBINT_FMA(R(2.0), inner, k[0][i]) + k[3][i];
    }
    model_add(x, x, h * R(1.0 / 6.0), point);
    return model_end_step(run, &method, k, h, time, x);
}
