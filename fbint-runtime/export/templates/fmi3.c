
/* FMI 3.0. */
#include <stdbool.h>

typedef void *fmi3Instance;
typedef int fmi3Status;
typedef const char *fmi3String;
typedef void (*fmi3Log)(void *, fmi3Status, fmi3String, fmi3String);

enum { OK = 0, FAILED = 3 };

#define NOW (&((instance *)component)->now)
#define STATUS(is_well) ((is_well) ? OK : FAILED)
#define REFERENCES fmi3Instance component, const uint32_t *references, size_t count

/* A function that has nothing to do. */
#define NOTHING(name) \
    EXPORT fmi3Status name(fmi3Instance component) \
    { \
        (void)component; \
        return OK; \
    }
/* Variables of types that the model does not have. */
#define NONE_OF(type, element) \
    EXPORT fmi3Status fmi3Get##type(REFERENCES, element *values, size_t value_count) \
    { \
        (void)component, (void)references, (void)values, (void)value_count; \
        return STATUS(count == 0); \
    } \
    EXPORT fmi3Status fmi3Set##type(REFERENCES, const element *values, size_t value_count) \
    { \
        (void)component, (void)references, (void)values, (void)value_count; \
        return STATUS(count == 0); \
    }
/* A function for what the model does not have. */
#define NONE(name, ...) \
    EXPORT fmi3Status name(__VA_ARGS__) \
    { \
        (void)component; \
        return FAILED; \
    }

EXPORT const char *fmi3GetVersion(void)
{
    return "3.0";
}

EXPORT fmi3Status fmi3SetDebugLogging(fmi3Instance component, bool on, size_t count, const fmi3String *values)
{
    (void)component, (void)on, (void)count, (void)values;
    return OK;
}

static fmi3Instance made(fmi3String name, fmi3String given, void *environment, fmi3Log log)
{
    instance *made;
    (void)name;
    if (given == NULL || strcmp(given, token) != 0) {
        if (log != NULL) {
            log(environment, FAILED, "error", "The instantiation token is not that of this FMU.");
        }
        return NULL;
    }
    made = (instance *)calloc(1, sizeof *made);
    if (made != NULL) {
        made->free_memory = free;
        state_reset(&made->now);
    }
    return made;
}

EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String given, fmi3String resources, bool visible,
    bool logging, void *environment, fmi3Log log)
{
    (void)resources, (void)visible, (void)logging;
    return made(name, given, environment, log);
}

EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String given, fmi3String resources, bool visible,
    bool logging, bool has_events, bool returns_early, const uint32_t *intermediate, size_t count, void *environment,
    fmi3Log log, void *update)
{
    (void)resources, (void)visible, (void)logging, (void)has_events, (void)returns_early, (void)intermediate, (void)count;
    (void)update;
    return made(name, given, environment, log);
}

EXPORT fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String given, fmi3String resources, bool visible,
    bool logging, void *environment, fmi3Log log, void *update, void *lock, void *unlock)
{
    (void)name, (void)given, (void)resources, (void)visible, (void)logging, (void)environment, (void)log, (void)update;
    (void)lock, (void)unlock;
    return NULL;
}

EXPORT void fmi3FreeInstance(fmi3Instance component)
{
    free(component);
}

EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance component, bool has_tolerance, double tolerance, double start,
    bool has_stop, double stop)
{
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    state_start(NOW, (real)start);
    return OK;
}

NOTHING(fmi3ExitInitializationMode)
NOTHING(fmi3EnterEventMode)
NOTHING(fmi3Terminate)
NOTHING(fmi3EnterConfigurationMode)
NOTHING(fmi3ExitConfigurationMode)
NOTHING(fmi3EvaluateDiscreteStates)
NOTHING(fmi3EnterContinuousTimeMode)
NOTHING(fmi3EnterStepMode)

EXPORT fmi3Status fmi3Reset(fmi3Instance component)
{
    state_reset(NOW);
    return OK;
}

EXPORT fmi3Status fmi3GetFloat64(REFERENCES, double *values, size_t value_count)
{
    return STATUS(count == value_count && state_get(NOW, references, count, values));
}

EXPORT fmi3Status fmi3SetFloat64(REFERENCES, const double *values, size_t value_count)
{
    return STATUS(count == value_count && state_set(NOW, references, count, values));
}

NONE_OF(Float32, float)
NONE_OF(Int8, int8_t)
NONE_OF(UInt8, uint8_t)
NONE_OF(Int16, int16_t)
NONE_OF(UInt16, uint16_t)
NONE_OF(Int32, int32_t)
NONE_OF(UInt32, uint32_t)
NONE_OF(Int64, int64_t)
NONE_OF(UInt64, uint64_t)
NONE_OF(Boolean, bool)
NONE_OF(String, fmi3String)

EXPORT fmi3Status fmi3GetBinary(REFERENCES, size_t *sizes, const uint8_t **values, size_t value_count)
{
    (void)component, (void)references, (void)sizes, (void)values, (void)value_count;
    return STATUS(count == 0);
}

EXPORT fmi3Status fmi3SetBinary(REFERENCES, const size_t *sizes, const uint8_t *const *values, size_t value_count)
{
    (void)component, (void)references, (void)sizes, (void)values, (void)value_count;
    return STATUS(count == 0);
}

EXPORT fmi3Status fmi3GetClock(REFERENCES, bool *values)
{
    (void)component, (void)references, (void)values;
    return STATUS(count == 0);
}

EXPORT fmi3Status fmi3SetClock(REFERENCES, const bool *values)
{
    (void)component, (void)references, (void)values;
    return STATUS(count == 0);
}

EXPORT fmi3Status fmi3GetFMUState(fmi3Instance component, void **kept)
{
    return STATUS(state_keep(NOW, kept));
}

EXPORT fmi3Status fmi3SetFMUState(fmi3Instance component, void *kept)
{
    memcpy(NOW, kept, sizeof(state));
    return OK;
}

EXPORT fmi3Status fmi3FreeFMUState(fmi3Instance component, void **kept)
{
    (void)component;
    free(*kept);
    *kept = NULL;
    return OK;
}

EXPORT fmi3Status fmi3SerializedFMUStateSize(fmi3Instance component, void *kept, size_t *size)
{
    (void)component, (void)kept;
    *size = sizeof(state);
    return OK;
}

EXPORT fmi3Status fmi3SerializeFMUState(fmi3Instance component, void *kept, uint8_t *bytes, size_t size)
{
    (void)component;
    if (size < sizeof(state)) {
        return FAILED;
    }
    memcpy(bytes, kept, sizeof(state));
    return OK;
}

EXPORT fmi3Status fmi3DeserializeFMUState(fmi3Instance component, const uint8_t *bytes, size_t size, void **kept)
{
    (void)component;
    return STATUS(size == sizeof(state) && state_keep(bytes, kept));
}

EXPORT fmi3Status fmi3GetDirectionalDerivative(fmi3Instance component, const uint32_t *unknowns, size_t unknown_count,
    const uint32_t *knowns, size_t known_count, const double *seed, size_t seed_count, double *change, size_t change_count)
{
    (void)seed_count, (void)change_count;
    return STATUS(state_direction(NOW, unknowns, unknown_count, knowns, known_count, seed, change));
}

EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance component, bool *again, bool *ends, bool *nominals, bool *values,
    bool *has_next, double *next)
{
    (void)component, (void)next;
    *again = *ends = *nominals = *values = *has_next = false;
    return OK;
}

EXPORT fmi3Status fmi3CompletedIntegratorStep(fmi3Instance component, bool keeps, bool *event, bool *ends)
{
    (void)component, (void)keeps;
    *event = *ends = false;
    return OK;
}

EXPORT fmi3Status fmi3SetTime(fmi3Instance component, double time)
{
    NOW->time = (real)time;
    return OK;
}

EXPORT fmi3Status fmi3SetContinuousStates(fmi3Instance component, const double *values, size_t count)
{
    size_t i;
    for (i = 0; i < count && i < MODEL_STATES; ++i) {
        NOW->x[i] = (real)values[i];
    }
    return STATUS(count == MODEL_STATES);
}

EXPORT fmi3Status fmi3GetContinuousStates(fmi3Instance component, double *values, size_t count)
{
    size_t i;
    for (i = 0; i < count && i < MODEL_STATES; ++i) {
        values[i] = NOW->x[i];
    }
    return STATUS(count == MODEL_STATES);
}

EXPORT fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance component, double *values, size_t count)
{
    real rates[@state_room@];
    size_t i;
    state_refresh(NOW);
    model_vector_field(&NOW->system, NOW->x, rates);
    for (i = 0; i < count && i < MODEL_STATES; ++i) {
        values[i] = rates[i];
    }
    return STATUS(count == MODEL_STATES);
}

EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance component, double *values, size_t count)
{
    size_t i;
    (void)component;
    for (i = 0; i < count; ++i) {
        values[i] = 1.0;
    }
    return OK;
}

EXPORT fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance component, size_t *count)
{
    (void)component;
    *count = MODEL_STATES;
    return OK;
}

EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance component, size_t *count)
{
    (void)component;
    *count = 0;
    return OK;
}

EXPORT fmi3Status fmi3GetEventIndicators(fmi3Instance component, double *values, size_t count)
{
    (void)component, (void)values;
    return STATUS(count == 0);
}

EXPORT fmi3Status fmi3DoStep(fmi3Instance component, double time, double length, bool no_return, bool *event, bool *ends,
    bool *early, double *last)
{
    const int is_well = length > 0 && state_advance(NOW, (real)time, (real)length);
    (void)no_return;
    *event = *ends = *early = false;
    *last = NOW->time;
    return STATUS(is_well);
}

NONE(fmi3GetNumberOfVariableDependencies, fmi3Instance component, uint32_t reference, size_t *count)
NONE(fmi3GetVariableDependencies, fmi3Instance component, uint32_t reference, size_t *elements, uint32_t *independents,
    size_t *more, int *kinds, size_t count)
NONE(fmi3GetAdjointDerivative, REFERENCES, const uint32_t *knowns, size_t known_count, const double *seed, size_t seed_count,
    double *values, size_t value_count)
NONE(fmi3GetIntervalDecimal, REFERENCES, double *intervals, int *qualifiers)
NONE(fmi3GetIntervalFraction, REFERENCES, uint64_t *counters, uint64_t *resolutions, int *qualifiers)
NONE(fmi3GetShiftDecimal, REFERENCES, double *shifts)
NONE(fmi3GetShiftFraction, REFERENCES, uint64_t *counters, uint64_t *resolutions)
NONE(fmi3SetIntervalDecimal, REFERENCES, const double *intervals)
NONE(fmi3SetIntervalFraction, REFERENCES, const uint64_t *counters, const uint64_t *resolutions)
NONE(fmi3SetShiftDecimal, REFERENCES, const double *shifts)
NONE(fmi3SetShiftFraction, REFERENCES, const uint64_t *counters, const uint64_t *resolutions)
NONE(fmi3GetOutputDerivatives, REFERENCES, const int32_t *orders, double *values, size_t value_count)
NONE(fmi3ActivateModelPartition, fmi3Instance component, uint32_t clock, double time)
