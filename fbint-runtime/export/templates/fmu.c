/* written by fbint @version@ */
/* An instance of the model, whatever the version of FMI is. Value references count these, in this order: the time, the states, their
 * derivatives, the parameters, the inputs, the outputs, the integrals, the functions of the events and of the switches, how often each event
 * has occurred, the longest step and the tolerance of a co-simulation. An input with a law follows it until it is set: before the
 * initialisation to another value than its start, from then on to any. */
#include <math.h>
#include <stdbool.h>
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
    VR_EVENT = VR_INTEGRAL + MODEL_INTEGRALS,
    VR_SWITCH = VR_EVENT + MODEL_EVENTS,
    VR_OCCURRED = VR_SWITCH + MODEL_SWITCHES,
    VR_STEP = VR_OCCURRED + MODEL_EVENTS,
    VR_TOLERANCE
};

#if defined(_WIN32) || defined(__CYGWIN__)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

static const char token[] = "@token@";

/* What changes; it is copied where the state of an instance is kept. A run is begun again where it is not running. */
typedef struct state {
    real time, step, tolerance;
    real x[@state_room@], p[@parameter_room@];
    model_run run;
    int is_stale, is_running, is_initialised, met[@watched_room@];
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

/* Computes what depends on parameters, and the inputs that follow laws. */
static const model_system *state_refresh(state *now)
{
    model_system *const system = &now->run.system;
    if (now->is_stale) {
        const model_system before = *system;
        model_parameters parameters;
        memcpy(&parameters, now->p, MODEL_PARAMETERS * sizeof(real));
        model_prepare(&parameters, system);
        memcpy(system->u, before.u, sizeof before.u);
#if @switches@
        memcpy(system->side, before.side, sizeof before.side);
#endif
#if @laws@
        memcpy(system->is_given, before.is_given, sizeof before.is_given);
#endif
        now->is_stale = 0;
    }
    model_follow_laws(system, now->x);
    return system;
}

/* Begins a run at the state, which is moved onto the constraints. Returns whether that is possible. */
static int state_begin(state *now)
{
    const model_system system = *state_refresh(now);
    const model_run before = now->run;
    if (now->is_running) {
        return 1;
    }
#if @sampled@
    if (!(system.period > 0)) {
        return 0;
    }
#endif
    if (model_onto_constraints(&system, now->x) != 0) {
        return 0;
    }
    if (MODEL_PROJECTS) {
        model_begin_projected(&now->run, &system, now->x);
    } else {
        model_begin_plain(&now->run, &system, now->x);
    }
#if @watched@
    memcpy(now->run.occurred, before.occurred, sizeof before.occurred);
#endif
#if @sampled@
    now->run.samples = before.samples;
    (void)model_sample_laws(&now->run, now->x, now->time);
#endif
    now->run.is_over = before.is_over;
    now->run.tolerance = now->tolerance;
    now->is_running = 1;
#if @switches@
    model_hold_sides(&now->run, now->x, now->time);
#endif
    return 1;
}

/* The functions of the events and of the switches. */
static void state_watch(state *now, real *values)
{
    (void)state_refresh(now);
#if @watched@
    model_watch(&now->run, now->x, values);
#else
    (void)values;
#endif
}

/* A value reference, or one that means nothing. */
static int references_below(uint32_t reference)
{
    return reference > VR_TOLERANCE ? VR_TOLERANCE + 1 : (int)reference;
}

/* What depends on the state and the inputs, and has derivatives. */
typedef struct unknowns {
    real rates[@state_room@], outputs[@output_room@], integrals[@integral_room@], watched[@watched_room@];
} unknowns;

static void state_compute(state *now, unknowns *lists)
{
    state_watch(now, lists->watched);
    model_rates(&now->run, now->x, lists->rates);
    model_outputs(&now->run.system, now->x, lists->outputs);
    model_integrals(&now->run.system, now->x, lists->integrals);
}

static real *of_unknown(unknowns *lists, uint32_t reference)
{
    const int vr = references_below(reference);
    return vr < VR_DERIVATIVE || vr >= VR_OCCURRED ? NULL
        : vr < VR_PARAMETER ? &lists->rates[vr - VR_DERIVATIVE]
        : vr >= VR_EVENT ? &lists->watched[vr - VR_EVENT]
        : vr >= VR_INTEGRAL ? &lists->integrals[vr - VR_INTEGRAL]
        : vr >= VR_OUTPUT ? &lists->outputs[vr - VR_OUTPUT] : NULL;
}

static int state_get(state *now, const uint32_t *references, size_t count, double *values)
{
    const model_system *const system = state_refresh(now);
    unknowns lists;
    int is_computed = 0;
    size_t i;
    for (i = 0; i < count; ++i) {
        const int vr = references_below(references[i]);
        const real *const unknown = of_unknown(&lists, references[i]);
        if (unknown != NULL) {
            if (!is_computed) {
                state_compute(now, &lists);
                is_computed = 1;
            }
            values[i] = *unknown;
        } else if (vr < VR_STATE) {
            values[i] = now->time;
        } else if (vr < VR_DERIVATIVE) {
            values[i] = now->x[vr - VR_STATE];
        } else if (vr < VR_INPUT) {
            values[i] = now->p[vr - VR_PARAMETER];
        } else if (vr < VR_OUTPUT) {
            values[i] = system->u[vr - VR_INPUT];
        } else if (vr < VR_STEP) {
#if @watched@
            values[i] = (double)now->run.occurred[vr - VR_OCCURRED];
#endif
        } else if (vr <= VR_TOLERANCE) {
            values[i] = vr == VR_STEP ? now->step : now->tolerance;
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
            now->is_running &= now->p[vr - VR_PARAMETER] == value;
            now->p[vr - VR_PARAMETER] = value;
            now->is_stale = 1;
        } else if (vr >= VR_INPUT && vr < VR_OUTPUT) {
            now->run.has_derivative &= now->run.system.u[vr - VR_INPUT] == value;
            now->run.system.u[vr - VR_INPUT] = value;
#if @laws@
            now->run.system.is_given[vr - VR_INPUT] |= now->is_initialised || value != 0;
#endif
        } else if (vr == VR_STEP && value > 0) {
            now->step = value;
        } else if (vr == VR_TOLERANCE && value >= 0) {
            now->tolerance = value;
            now->run.tolerance = value;
        } else {
            return 0;
        }
    }
    return 1;
}

/* Steps over a length of time: of one size, none longer than the longest, or by the tolerance if there is one. Returns whether that is
 * possible; an event may end it. */
static int state_advance(state *now, real time, real length)
{
    const real ratio = length / now->step;
    const long count = ratio > (real)1.000001 && !(now->tolerance > 0) ? (long)ceil((double)ratio - 1e-6) : 1;
    const real h = length / (real)count;
    model_stepper *const step = now->tolerance > 0 ? model_step_dop853 : model_step_rk4;
    long part;
    int event = state_begin(now) ? MODEL_NO_EVENT : MODEL_FAILED;
    for (part = 1, now->time = time; part <= count; ++part) {
        const real begun = now->time, end = part == count ? time + length : time + (real)part * h;
        while (now->time < end) {
            const real rest = now->time == begun ? h : end - now->time;
            event = event == MODEL_FAILED ? event : model_advance(&now->run, step, now->x, &now->time, rest, end);
            if (event == MODEL_FAILED || now->run.is_over) {
                return event != MODEL_FAILED;
            }
        }
    }
    return 1;
}

/* Whether events have occurred at a state that the importer has reached. */
static int state_notice(state *now)
{
#if @watched@
    return state_begin(now) && model_notice_events(&now->run, now->x, now->met);
#else
    (void)now;
    return 0;
#endif
}

/* Does what the events do that have occurred, and takes a sample of laws that is due. Returns whether there are events. */
static int state_take(state *now)
{
    const int any = state_notice(now);
#if @watched@
    if (any) {
        (void)model_take_events(&now->run, now->x, now->time, now->met);
        memset(now->met, 0, sizeof now->met);
    }
#endif
#if @sampled@
    if (state_begin(now)) {
        (void)model_sample_laws(&now->run, now->x, now->time);
    }
#endif
    return any;
}

/* Puts the time of the next sample of laws into `next`; returns whether there is one. */
static int state_has_next(const state *now, double *next)
{
#if @sampled@
    *next = now->run.samples.next;
    return now->is_running;
#else
    (void)now, (void)next;
    return 0;
#endif
}

/* The number of a known, by which derivatives are taken. */
static real *of_known(model_direction *direction, uint32_t reference)
{
    const int vr = references_below(reference);
    return vr < VR_STATE || vr >= VR_OUTPUT ? NULL
        : vr < VR_DERIVATIVE ? &direction->x[vr - VR_STATE]
        : vr >= VR_INPUT ? &direction->u[vr - VR_INPUT]
        : vr >= VR_PARAMETER ? &direction->p[vr - VR_PARAMETER] : NULL;
}

#if @switches@
/* Whether the motion slides along a switch. */
static int state_slides(const state *now)
{
    int i, any = 0;
    for (i = 0; i < MODEL_SWITCHES; ++i) {
        any |= now->run.held[i] == 2;
    }
    return any;
}

/* The change of unknowns by central differences. */
static void state_differences(const state *now, const model_direction *direction, unknowns *changes)
{
    const real h = (real)1e-6;
    state moved = *now;
    unknowns ends[2];
    real *const to = (real *)changes, *const ahead = (real *)&ends[0], *const behind = (real *)&ends[1];
    int i, end;
    for (end = 0; end < 2; ++end) {
        const real way = end == 0 ? h : -h;
        for (i = 0; i < MODEL_STATES; ++i) {
            moved.x[i] = now->x[i] + way * direction->x[i];
        }
        for (i = 0; i < MODEL_PARAMETERS; ++i) {
            moved.p[i] = now->p[i] + way * direction->p[i];
        }
        for (i = 0; i < MODEL_INPUTS; ++i) {
            moved.run.system.u[i] = now->run.system.u[i] + way * direction->u[i];
        }
        moved.is_stale = 1;
        state_compute(&moved, &ends[end]);
    }
    for (i = 0; i < (int)(sizeof ends[0] / sizeof h); ++i) {
        to[i] = (ahead[i] - behind[i]) / (h + h);
    }
}
#endif

/* The change of all unknowns along a change of knowns. */
static int state_change(state *now, const uint32_t *by, size_t known_count, const double *seed, unknowns *changes)
{
    const model_system *const system = state_refresh(now);
    real values[@most_room@];
    model_direction direction;
    model_parameters parameters;
    size_t i;
    memset(&direction, 0, sizeof direction);
    memset(changes, 0, sizeof *changes);
    for (i = 0; i < known_count; ++i) {
        real *const known = of_known(&direction, by[i]);
        if (known == NULL) {
            return 0;
        }
        *known = (real)seed[i];
    }
    memcpy(&parameters, now->p, MODEL_PARAMETERS * sizeof(real));
    model_prepare_direction(&parameters, system, &direction);
#if @followed@
    {
        real u[@input_room@];
        model_law_tangent(system, now->x, &direction, values, u);
        for (i = 0; i < MODEL_INPUTS; ++i) {
            direction.u[i] = system->is_given[i] ? direction.u[i] : u[i];
        }
    }
#endif
    model_vector_field_tangent(system, now->x, &direction, values, changes->rates);
    model_outputs_tangent(system, now->x, &direction, values, changes->outputs);
    model_integrals_tangent(system, now->x, &direction, values, changes->integrals);
#if @events@
    model_event_changes(system, now->x, &direction, changes->watched);
#endif
#if @switches@
    {
        unknowns differences;
        int i, has_parameters = 0;
        model_switch_changes(system, now->x, &direction, &changes->watched[MODEL_EVENTS]);
        for (i = 0; i < MODEL_SWITCHES; ++i) {
            changes->watched[MODEL_EVENTS + i] *= (real)(now->run.held[i] < 0 ? -1 : 1);
        }
        for (i = 0; i < MODEL_PARAMETERS; ++i) {
            has_parameters |= direction.p[i] != 0;
        }
        state_differences(now, &direction, &differences);
        if (state_slides(now)) {
            *changes = differences;
        } else if (has_parameters) {
            memcpy(&changes->watched[MODEL_EVENTS], &differences.watched[MODEL_EVENTS], sizeof(real) * MODEL_SWITCHES);
        }
    }
#endif
    return 1;
}

/* The change of some unknowns. */
static int state_direction(state *now, const uint32_t *of, size_t unknown_count, const uint32_t *by, size_t known_count,
    const double *seed, double *change)
{
    unknowns changes;
    size_t i;
    int is_well = state_change(now, by, known_count, seed, &changes);
    for (i = 0; is_well && i < unknown_count; ++i) {
        const real *const unknown = of_unknown(&changes, of[i]);
        is_well = unknown != NULL;
        change[i] = is_well ? *unknown : 0;
    }
    return is_well;
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
