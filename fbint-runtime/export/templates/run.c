
/* Steps, as runs of fbint make them: fbint-runtime's modules `tableau`, `projection` and `rounding` say why. */

#ifdef FBINT_FLOAT
#define FBINT_EPSILON FLT_EPSILON
#define FBINT_LEAST_NOISE R(1e-30)
#define FBINT_UNBOUNDED R(1e30)
#define FBINT_ROOT R(1.0 / (1 << 12))
#define FBINT_DUE R(1e-4)
#define FBINT_JUMP R(1e-4)
#define FBINT_MET R(1e-4)
#else
#define FBINT_EPSILON DBL_EPSILON
#define FBINT_LEAST_NOISE 1e-140
#define FBINT_UNBOUNDED 1e150
#define FBINT_ROOT R(1.0 / (1 << 26))
#define FBINT_DUE 1e-9
#define FBINT_JUMP 1e-8
#define FBINT_MET 1e-7
#endif
#define FBINT_SAMPLES 4
#define FBINT_SLIDING 2
#define FBINT_SPIKE R(1e4)
#define FBINT_LAST R(0.1)
#define FBINT_USUAL R(100.0)
#define FBINT_MOST R(1e6)
#define FBINT_ROUNDING R(4096.0)
#define FBINT_LEFT R(0.01)

static int model_is_finite(real number)
{
    return number - number == R(0.0);
}

static real model_larger(real a, real b)
{
    return a > b ? a : b;
}

static real model_size(real number)
{
    return number < R(0.0) ? -number : number;
}

/* The largest entry of the variable that an entry of the state belongs to. */
static real model_size_of_variable(const real *x, int i)
{
    real largest = R(0.0);
    int j;
    for (j = 0; j < MODEL_STATES; ++j) {
        if (model_variable[j] == model_variable[i] && model_size(x[j]) > largest) {
            largest = model_size(x[j]);
        }
    }
    return largest;
}

static void model_set_clock(real *x, real time)
{
    if (MODEL_CLOCK >= 0) {
        x[MODEL_CLOCK < 0 ? 0 : MODEL_CLOCK] = time;
    }
}

void model_follow_laws(model_system *system, const real *x)
{
#if @followed@
    real u[@input_room@];
    int i;
    model_law(system, x, u);
    for (i = 0; i < MODEL_INPUTS; ++i) {
        system->u[i] = system->is_given[i] ? system->u[i] : u[i];
    }
#else
    (void)system, (void)x;
#endif
}

/* In which direction, and how far, an entry is moved in a sample: by between a half and one and a half. */
static real model_way(int sample, int j)
{
    const unsigned long bits = ((unsigned long)(j * FBINT_SAMPLES + sample + 1) * 0x9E3779B9UL) & 0xFFFFFFFFUL;
    const real size = R(0.5) + (real)(bits >> 8 & 0xFFUL) / R(256.0);
    return bits >> 31 == 0 ? size : -size;
}

/* The field at a state around the start. */
static void model_rates_near(const model_system *system, const real *start, int sample, real distance, real *rates)
{
    real point[@state_room@];
    int j;
    for (j = 0; j < MODEL_STATES; ++j) {
        point[j] = start[j] * (distance * model_way(sample, j) + R(1.0));
    }
    model_vector_field(system, point, rates);
}

static void model_add_square(real *square, real difference)
{
    *square += model_is_finite(difference) ? difference * difference : R(0.0);
}

/* What rounding of the field does to each entry of the state in a step of size 1, squared, by how it scatters around the start. */
static void model_scatter(const model_system *system, const real *start, real *entries)
{
    real here[@state_room@], one[@state_room@], other[@state_room@], squares[@state_room@];
    int j, sample;
    model_vector_field(system, start, here);
    for (j = 0; j < MODEL_STATES; ++j) {
        squares[j] = R(0.0);
    }
    for (sample = 0; sample < FBINT_SAMPLES; ++sample) {
        model_rates_near(system, start, sample, R(2.0) * FBINT_EPSILON, one);
        for (j = 0; j < MODEL_STATES; ++j) {
            model_add_square(&squares[j], one[j] - here[j]);
        }
        model_rates_near(system, start, sample, FBINT_ROOT, one);
        model_rates_near(system, start, sample, -FBINT_ROOT, other);
        for (j = 0; j < MODEL_STATES; ++j) {
            model_add_square(&squares[j], one[j] + other[j] - R(2.0) * here[j]);
        }
    }
    for (j = 0; j < MODEL_STATES; ++j) {
        /* An entry that is 0 at the start hides its rounding. */
        const real own = squares[j] > R(0.0) ? squares[j] : model_size_of_variable(squares, j);
        const real mean = own / R(FBINT_SAMPLES);
        entries[j] = model_is_finite(mean) ? mean : R(0.0);
    }
}

/* The variance of rounding in each integral. */
static void model_noise_of_integrals(const model_system *system, const real *x, const real *targets, real *noise)
{
    real jacobian[@jacobian_room@];
    int i, j;
    model_integrals_jacobian(system, x, jacobian);
    for (i = 0; i < MODEL_INTEGRALS; ++i) {
        real squares = targets[i] * targets[i];
        for (j = 0; j < MODEL_STATES; ++j) {
            const real term = jacobian[i * MODEL_STATES + j] * x[j];
            squares += term * term;
        }
        noise[i] = FBINT_EPSILON * FBINT_EPSILON * squares;
        noise[i] = model_is_finite(noise[i]) ? model_larger(noise[i], FBINT_LEAST_NOISE) : FBINT_UNBOUNDED;
    }
}

static void model_noise_by_field(model_run *run, const real *x)
{
    model_system system = run->system;
    real jacobian[@jacobian_room@];
    int i, j;
    memset(system.u, 0, sizeof system.u);
#if @switches@
    memset(system.side, 0, sizeof system.side);
#endif
    model_scatter(&system, x, run->entries_by_field);
    model_integrals_jacobian(&run->system, x, jacobian);
    for (i = 0; i < MODEL_INTEGRALS; ++i) {
        real sum = R(0.0);
        for (j = 0; j < MODEL_STATES; ++j) {
            const real slope = jacobian[i * MODEL_STATES + j];
            sum += slope * slope * run->entries_by_field[j];
        }
        run->noise_by_field[i] = model_is_finite(sum) ? sum : R(0.0);
    }
    for (j = 0; j < MODEL_STATES; ++j) {
        run->entries_by_field[j] *= R(256.0);
    }
}

static void model_targets(const model_system *system, const real *x, real *targets)
{
    int i;
    model_integrals(system, x, targets);
    for (i = 0; i < MODEL_INTEGRALS; ++i) {
        targets[i] = model_is_constraint[i] ? R(0.0) : targets[i];
    }
}

/* From here on a run keeps the integrals that it has at x. */
static void model_keep(model_run *run, const real *x)
{
    real normalisation[@normalisation_room@];
    int i;
    run->has_derivative = 0;
    memset(run->mean, 0, sizeof run->mean);
    model_targets(&run->system, x, run->targets);
    if (run->has_feedback) {
        model_normalisation(&run->system, normalisation);
        for (i = 0; i < MODEL_INTEGRALS; ++i) {
            run->gain_targets[i] = run->targets[i] / normalisation[3 * i + 1] - normalisation[3 * i + 2];
        }
    }
    if (run->is_projected) {
        model_noise_of_integrals(&run->system, x, run->targets, run->noise);
        model_noise_by_field(run, x);
    }
#if @restarted@
    memcpy(run->own_noise, run->noise, sizeof run->noise);
#endif
}

#if @restarted@
/* Forgets what earlier steps were like, because the field has jumped. */
static void model_restart(model_run *run)
{
    run->has_derivative = 0;
    memset(run->mean, 0, sizeof run->mean);
    memcpy(run->noise, run->own_noise, sizeof run->noise);
}
#endif

#if @sampled@
int model_sample_laws(model_run *run, const real *x, real time)
{
    real (*const states)[@state_room@] = run->samples.states;
    model_system *const system = &run->system;
    real u[@input_room@];
    int i;
    if (run->samples.count > 0 && !(time >= run->samples.next - FBINT_DUE * system->period)) {
        return 0;
    }
    memmove(states[0], states[1], MODEL_DELAY * sizeof states[0]);
    memcpy(states[MODEL_DELAY], x, MODEL_STATES * sizeof *x);
    run->samples.count += run->samples.count <= MODEL_DELAY;
    run->samples.next = (FBINT_FLOOR(time / system->period + FBINT_DUE) + R(1.0)) * system->period;
    if (run->samples.count > MODEL_DELAY) {
        model_law(system, states[0], u);
        for (i = 0; i < MODEL_INPUTS; ++i) {
            system->u[i] = system->is_given[i] ? system->u[i] : u[i];
        }
    }
    model_restart(run);
    return 1;
}
#endif

static void model_begin(model_run *run, const model_system *system, const real *x)
{
    memset(run, 0, sizeof *run);
    run->system = *system;
#if @switches@
    memset(run->system.side, 0, sizeof run->system.side);
#endif
#if @watched@
    model_watch(run, x, run->sides);
#else
    (void)x;
#endif
}

void model_begin_plain(model_run *run, const model_system *system, const real *x)
{
    model_begin(run, system, x);
    model_keep(run, x);
}

void model_begin_feedback(model_run *run, const model_system *system, const real *x, const real *gains)
{
    real normalisation[@normalisation_room@];
    int i;
    model_begin(run, system, x);
    run->has_feedback = 1;
    model_normalisation(system, normalisation);
    for (i = 0; i < MODEL_INTEGRALS; ++i) {
        const real root = FBINT_SQRT(model_weight[i]);
        run->gains[i] = gains[i] * (root * normalisation[3 * i]) * (root * normalisation[3 * i + 1]);
    }
    model_keep(run, x);
}

void model_begin_projected(model_run *run, const model_system *system, const real *x)
{
    model_begin(run, system, x);
    run->is_projected = MODEL_INTEGRALS > 0;
    model_keep(run, x);
}
