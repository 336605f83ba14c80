/* written by fbint @version@ */
/* An instance of the model, whatever the version of FMI is. Value references count these, in this order: the time, the states, their
 * derivatives, the parameters, the inputs, the outputs, the integrals, and the longest step that a co-simulation takes. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "@prefix@.h"

enum {
    VR_STATE = 1,
    VR_DERIVATIVE = VR_STATE + MODEL_STATES,
    VR_PARAMETER = VR_DERIVATIVE + MODEL_STATES,
    VR_INPUT = VR_PARAMETER + MODEL_PARAMETERS,
    VR_OUTPUT = VR_INPUT + MODEL_INPUTS,
    VR_INTEGRAL = VR_OUTPUT + MODEL_OUTPUTS,
    VR_STEP = VR_INTEGRAL + MODEL_INTEGRALS
};

#if defined(_WIN32) || defined(__CYGWIN__)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

static const char token[] = "@token@";

/* What changes; it is copied where the state of an instance is kept. */
typedef struct state {
    real time, step;
    real x[@state_room@], p[@parameter_room@];
    model_system system;
    model_run run;
    int is_stale, is_running;
} state;

typedef struct instance {
    state now;
    void (*free_memory)(void *);
} instance;

static void state_reset(state *now)
{
    model_parameters parameters;
    memset(now, 0, sizeof *now);
    model_default_parameters(&parameters);
    memcpy(now->p, &parameters, MODEL_PARAMETERS * sizeof(real));
    model_default_start(now->x);
    now->step = @step@;
    now->is_stale = 1;
}

static void state_start(state *now, real time)
{
    now->time = time;
    if (MODEL_CLOCK >= 0) {
        now->x[MODEL_CLOCK < 0 ? 0 : MODEL_CLOCK] = time;
    }
}

static void state_refresh(state *now)
{
    real inputs[@input_room@];
    model_parameters parameters;
    if (!now->is_stale) {
        return;
    }
    memcpy(inputs, now->system.u, sizeof inputs);
    memcpy(&parameters, now->p, MODEL_PARAMETERS * sizeof(real));
    model_prepare(&parameters, &now->system);
    memcpy(now->system.u, inputs, sizeof inputs);
    now->is_stale = 0;
}

/* A value reference, or one that means nothing. */
static int references_below(uint32_t reference)
{
    return reference > VR_STEP ? VR_STEP + 1 : (int)reference;
}

static int state_get(state *now, const uint32_t *references, size_t count, double *values)
{
    real rates[@state_room@], outputs[@output_room@], integrals[@integral_room@];
    int has_rates = 0, has_outputs = 0, has_integrals = 0;
    size_t i;
    state_refresh(now);
    for (i = 0; i < count; ++i) {
        const int vr = references_below(references[i]);
        if (vr < VR_STATE) {
            values[i] = now->time;
        } else if (vr < VR_DERIVATIVE) {
            values[i] = now->x[vr - VR_STATE];
        } else if (vr < VR_PARAMETER) {
            if (!has_rates) {
                model_vector_field(&now->system, now->x, rates);
                has_rates = 1;
            }
            values[i] = rates[vr - VR_DERIVATIVE];
        } else if (vr < VR_INPUT) {
            values[i] = now->p[vr - VR_PARAMETER];
        } else if (vr < VR_OUTPUT) {
            values[i] = now->system.u[vr - VR_INPUT];
        } else if (vr < VR_INTEGRAL) {
            if (!has_outputs) {
                model_outputs(&now->system, now->x, outputs);
                has_outputs = 1;
            }
            values[i] = outputs[vr - VR_OUTPUT];
        } else if (vr < VR_STEP) {
            if (!has_integrals) {
                model_integrals(&now->system, now->x, integrals);
                has_integrals = 1;
            }
            values[i] = integrals[vr - VR_INTEGRAL];
        } else if (vr == VR_STEP) {
            values[i] = now->step;
        } else {
            return 0;
        }
    }
    return 1;
}

static int state_set(state *now, const uint32_t *references, size_t count, const double *values)
{
    size_t i;
    for (i = 0; i < count; ++i) {
        const int vr = references_below(references[i]);
        const real value = (real)values[i];
        if (vr >= VR_STATE && vr < VR_DERIVATIVE) {
            now->is_running &= now->x[vr - VR_STATE] == value;
            now->x[vr - VR_STATE] = value;
        } else if (vr >= VR_PARAMETER && vr < VR_INPUT) {
            now->p[vr - VR_PARAMETER] = value;
            now->is_stale = 1;
        } else if (vr >= VR_INPUT && vr < VR_OUTPUT) {
            now->run.has_derivative &= now->system.u[vr - VR_INPUT] == value;
            now->system.u[vr - VR_INPUT] = value;
        } else if (vr == VR_STEP && value > 0) {
            now->step = value;
        } else {
            return 0;
        }
    }
    return 1;
}

/* Steps of one size, none longer than the longest, over a length of time. Returns whether all states are finite. */
static int state_advance(state *now, real time, real length)
{
    const real ratio = length / now->step;
    const long count = ratio > (real)1.000001 ? (long)ceil((double)ratio - 1e-6) : 1;
    const real h = length / (real)count;
    long step;
    int i, is_finite = 1;
    state_refresh(now);
    if (!now->is_running) {
        if (MODEL_PROJECTS) {
            model_begin_projected(&now->run, &now->system, now->x);
        } else {
            model_begin_plain(&now->run, &now->system);
        }
        now->is_running = 1;
    }
    memcpy(now->run.system.u, now->system.u, sizeof now->system.u);
    for (step = 1; step <= count && is_finite; ++step) {
        now->time = step == count ? time + length : time + (real)step * h;
        (void)model_step_rk4(&now->run, now->x, h, now->time);
        for (i = 0; i < MODEL_STATES; ++i) {
            is_finite &= now->x[i] - now->x[i] == 0;
        }
    }
    return is_finite;
}

/* The change of unknowns, which are derivatives, outputs or integrals, along a change of knowns. */
static int state_direction(state *now, const uint32_t *unknowns, size_t unknown_count, const uint32_t *knowns,
    size_t known_count, const double *seed, double *change)
{
#if @has_derivatives@
    real values[@most_room@], rates[@state_room@], outputs[@output_room@], integrals[@integral_room@];
    model_direction direction;
    model_parameters parameters;
    size_t i;
    memset(&direction, 0, sizeof direction);
    for (i = 0; i < known_count; ++i) {
        const int vr = references_below(knowns[i]);
        if (vr >= VR_STATE && vr < VR_DERIVATIVE) {
            direction.x[vr - VR_STATE] = (real)seed[i];
        } else if (vr >= VR_PARAMETER && vr < VR_INPUT) {
            direction.p[vr - VR_PARAMETER] = (real)seed[i];
        } else if (vr >= VR_INPUT && vr < VR_OUTPUT) {
            direction.u[vr - VR_INPUT] = (real)seed[i];
        } else {
            return 0;
        }
    }
    state_refresh(now);
    memcpy(&parameters, now->p, MODEL_PARAMETERS * sizeof(real));
    model_prepare_direction(&parameters, &now->system, &direction);
    model_vector_field_tangent(&now->system, now->x, &direction, values, rates);
    model_outputs_tangent(&now->system, now->x, &direction, values, outputs);
    model_integrals_tangent(&now->system, now->x, &direction, values, integrals);
    for (i = 0; i < unknown_count; ++i) {
        const int vr = references_below(unknowns[i]);
        if (vr >= VR_DERIVATIVE && vr < VR_PARAMETER) {
            change[i] = rates[vr - VR_DERIVATIVE];
        } else if (vr >= VR_OUTPUT && vr < VR_INTEGRAL) {
            change[i] = outputs[vr - VR_OUTPUT];
        } else if (vr >= VR_INTEGRAL && vr < VR_STEP) {
            change[i] = integrals[vr - VR_INTEGRAL];
        } else {
            return 0;
        }
    }
    return 1;
#else
    (void)now, (void)unknowns, (void)unknown_count, (void)knowns, (void)known_count, (void)seed, (void)change;
    return 0;
#endif
}

/* A copy of what changes, in memory of the library. */
static int state_keep(const void *now, void **kept)
{
    if (*kept == NULL) {
        *kept = malloc(sizeof(state));
    }
    if (*kept == NULL) {
        return 0;
    }
    memcpy(*kept, now, sizeof(state));
    return 1;
}
