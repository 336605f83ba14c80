/* written by fbint @version@
 *
 * @about@
 *
@missing@ *
 * Vectors are arrays of `real`, entries in the order of the enumerations below. No function allocates, none keeps anything between calls,
 * and where an array is a result it may be one of the arguments, too. A projection takes stack for two matrices of
 * MODEL_INTEGRALS x MODEL_STATES numbers when a run begins.
 *
 * -DFBINT_FLOAT computes in single precision. A product with a sum is rounded once where FP_FAST_FMA says that the processor can, else
 * twice; -D'FBINT_FMA(a,b,c)=fma(a,b,c)' rounds it once everywhere. With -ffp-contract=off, the results in double precision are those of
 * Rust on a target with the same instructions and the same library of elementary functions, bit by bit. */
#ifndef MODEL_H
#define MODEL_H

#ifndef FBINT_REAL
#define FBINT_REAL
#ifdef FBINT_FLOAT
typedef float real;
#else
typedef double real;
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MODEL_STATES = @states@,
    MODEL_PARAMETERS = @parameters@,
    MODEL_INPUTS = @inputs@,
    MODEL_OUTPUTS = @outputs@,
    MODEL_INTEGRALS = @integrals@,
    MODEL_EVENTS = @events@,
    /* The functions at whose zeros the field switches. */
    MODEL_SWITCHES = @switches@,
    /* By how many samples laws of inputs are delayed, if they are sampled. */
    MODEL_DELAY = @delay@,
    /* Whether runs project states unless something else is chosen, and the entry of the state that is the time, if there is one. */
    MODEL_PROJECTS = @projects@,
    MODEL_CLOCK = @clock@
};
@indices@
/* The names of entries as they were declared; a null pointer ends each list. */
extern const char *const model_state_names[];
extern const char *const model_parameter_names[];
extern const char *const model_input_names[];
extern const char *const model_output_names[];
extern const char *const model_integral_names[];
extern const char *const model_event_names[];

/* The parameters. */
typedef struct model_parameters {
@members@} model_parameters;

/* The system with its parameters: numbers that depend on them alone, and its inputs, which are set at any time. */
typedef struct model_system {
    real c[@prepared@];
    real u[@input_room@];
#if @laws@
    /* Whether an input is as it was set, and does not follow its law. */
    int is_given[MODEL_INPUTS];
#endif
#if @sampled@
    /* The time between two samples of the laws. */
    real period;
#endif
#if @switches@
    /* The side on which each switch is held: an infinite number of its sign, or 0 where the state decides. Runs set them. */
    real side[MODEL_SWITCHES];
#endif
#if @events@
    model_parameters parameters;
#endif
} model_system;

/* A change of every unknown, with the change of what depends on parameters alone. */
typedef struct model_direction {
    real x[@state_room@];
    real p[@parameter_room@];
    real u[@input_room@];
    real c[@change_room@];
} model_direction;

/* The parameters and the start that the model was exported with. */
void model_default_parameters(model_parameters *parameters);
void model_default_start(real *x);

/* Computes what depends on parameters alone; all inputs are 0 then. */
void model_prepare(const model_parameters *parameters, model_system *system);
/* Computes the change of that from the parameters and their change. */
void model_prepare_direction(
    const model_parameters *parameters, const model_system *system, model_direction *direction);
/* For each integral three numbers, factor, scale and offset: functions that take normalised gains and targets have an integral F as
 * F / scale - offset, so that its target is divided in the same way, and its gain is multiplied by factor and scale. */
void model_normalisation(const model_system *system, real *result);
@functions@
/* Sets the inputs that have laws to their values at x, but for those whose `is_given` is set, unless the laws are sampled. Every stage of a
 * step does so; whoever calls the functions above does it first. */
void model_follow_laws(model_system *system, const real *x);
/* Moves x onto the constraints, by a short way. Returns 1 where it does not get there. */
int model_onto_constraints(const model_system *system, real *x);

/* A run: the system, and what its steps remember. */
typedef struct model_run {
    model_system system;
    int has_feedback, is_projected, has_derivative;
    real gains[@integral_room@], gain_targets[@integral_room@];
    real targets[@integral_room@], noise[@integral_room@], noise_by_field[@integral_room@];
    real entries_by_field[@state_room@], mean[@state_room@], derivative[@state_room@];
    /* The number of projections that were left out, and whether an event has ended the run. */
    int has_left_out, is_over;
    /* For `model_step_dop853`: the tolerance, relative to the size of each variable, the error of the last step in units of it, the size of
     * the next step, and the sizes of variables. */
    real tolerance, error, size, sizes[@state_room@];
#if @watched@
    /* How often each event has occurred, whether one is lost, and on which sides of 0 the functions of events and switches are. */
    long occurred[@event_room@];
    int is_lost, has_met[@watched@];
    real sides[@watched@];
#endif
#if @switches@
    /* Whether sides of the switches are held, and which: 1 and -1 are those of positive and negative numbers, 2 is between both, where the
     * motion slides, and 0 none. When each was met last, and how often in a row at once. */
    int has_sides, held[MODEL_SWITCHES], meetings[MODEL_SWITCHES];
    real met_at[MODEL_SWITCHES];
#endif
#if @sampled@
    /* When the next sample of laws is due, how many there were, and the last states, the first of which gives the inputs. */
    struct {
        real next, states[MODEL_DELAY + 1][@state_room@];
        int count;
    } samples;
#endif
#if @restarted@
    real own_noise[@integral_room@];
#endif
} model_run;

/* Begins a run from x, whose integrals are kept: constraints at 0, which x must satisfy, and the energy and invariants at their values. The
 * inputs of the system are those of every step until `run->system.u` changes; then `run->has_derivative` is set to 0. */
void model_begin_plain(model_run *run, const model_system *system, const real *x);
void model_begin_feedback(model_run *run, const model_system *system, const real *x, const real *gains);
void model_begin_projected(model_run *run, const model_system *system, const real *x);

/* The rates of the state in a run: of the field, under the laws of inputs, with the feedback and on the sides that the run has. */
void model_rates(model_run *run, const real *x, real *rates);

/* A step of size h to a time, which a state that has the time takes on. Returns 0, or 1 where the step was projected by no more than
 * rounding allows: the projection was out of proportion to the error of the step, or not finite, and was left out. The energy and the
 * invariants are kept at their values there. (A run by fbint also goes back onto the constraints there.) */
typedef int model_stepper(model_run *run, real *x, real h, real time);
int model_step_euler(model_run *run, real *x, real h, real time);
int model_step_heun(model_run *run, real *x, real h, real time);
int model_step_rk4(model_run *run, real *x, real h, real time);
int model_step_dop853(model_run *run, real *x, real h, real time);

enum { MODEL_NO_EVENT = -1, MODEL_FAILED = -2 };
/* A step of size h, from *time to `end`, or a shorter one: of `model_step_dop853`, where `run->tolerance` says how long it may be, to the
 * next sample of the laws of inputs, to the first event in it, and to where the field switches. Sets *time. Returns the event that ended the
 * step, after its reset and with the run's `is_over` set where the event ends the run; else MODEL_NO_EVENT, or MODEL_FAILED where no step is
 * short enough, a reset leads nowhere, or the field switches again and again. */
int model_advance(model_run *run, model_stepper *step, real *x, real *time, real h, real end);
#if @sampled@

/* For those who make steps of their own: takes a sample of the laws if one is due at this time, and returns whether it is. The inputs hold
 * until `run->samples.next`, where a step has to end. */
int model_sample_laws(model_run *run, const real *x, real time);
#endif
#if @switches@

/* How fast the results of `model_switches` change along a direction of the state and the inputs. */
void model_switch_changes(const model_system *system, const real *x, const model_direction *direction, real *result);
/* For those who make steps of their own: chooses the sides
 * on which a run that is at x goes on, and holds them; `model_advance` does so where no side is held yet. */
void model_hold_sides(model_run *run, const real *x, real time);
#endif
#if @events@

/* The functions of the events and sections, which occur where these pass 0: with a direction of 1 upwards, of -1 downwards. */
void model_events(const model_system *system, const real *x, real *result);
extern const int model_event_direction[];
/* The number of the occurrence that ends a run, 0 for none. */
extern const long model_event_last[];
/* How fast they change along a direction. */
void model_event_changes(const model_system *system, const real *x, const model_direction *direction, real *result);
/* Whether the condition of an event holds at x. */
int model_event_counts(const model_system *system, const real *x, int event);
/* Puts the state after an event into x; returns whether the event changes it. */
int model_reset(const model_system *system, int event, real *x);
#endif
#if @watched@

/* The functions of the events at x, and behind them those of the switches, with the sign by which they are positive on the side that is held. */
void model_watch(model_run *run, const real *x, real *values);
/* For those who make steps of their own: marks the events that have occurred, and the switches that were met, since states were last noticed,
 * and returns whether there are. */
int model_notice_events(model_run *run, const real *x, int *met);
/* Counts the events that are marked, does what they do, and changes sides. Returns the first event. */
int model_take_events(model_run *run, real *x, real time, const int *met);
#endif
#ifdef __cplusplus
}
#endif

#endif
