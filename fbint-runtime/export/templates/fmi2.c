
/* FMI 2.0. */

typedef void *fmi2Component;
typedef int fmi2Status;
typedef int fmi2Boolean;
typedef const char *fmi2String;

enum { OK = 0, FAILED = 3 };

typedef struct fmi2CallbackFunctions {
    void (*logger)(void *, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(void *, fmi2Status);
    void *environment;
} fmi2CallbackFunctions;

typedef struct fmi2EventInfo {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged, nextEventTimeDefined;
    double nextEventTime;
} fmi2EventInfo;

#define NOW (&((instance *)component)->now)
#define STATUS(is_well) ((is_well) ? OK : FAILED)

EXPORT const char *fmi2GetTypesPlatform(void)
{
    return "default";
}

EXPORT const char *fmi2GetVersion(void)
{
    return "2.0";
}

EXPORT fmi2Component fmi2Instantiate(fmi2String name, int type, fmi2String guid, fmi2String resources,
    const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    instance *made;
    (void)type, (void)resources, (void)visible, (void)logging;
    if (functions == NULL || guid == NULL || strcmp(guid, token) != 0) {
        if (functions != NULL && functions->logger != NULL) {
            functions->logger(functions->environment, name, FAILED, "error", "The GUID is not that of this FMU.");
        }
        return NULL;
    }
    made = (instance *)(functions->allocateMemory != NULL ? functions->allocateMemory(1, sizeof *made) : calloc(1, sizeof *made));
    if (made != NULL) {
        made->free_memory = functions->allocateMemory != NULL ? functions->freeMemory : free;
        state_reset(&made->now);
    }
    return made;
}

EXPORT void fmi2FreeInstance(fmi2Component component)
{
    if (component != NULL && ((instance *)component)->free_memory != NULL) {
        ((instance *)component)->free_memory(component);
    }
}

/* A function that has nothing to do. */
#define NOTHING(name, ...) \
    EXPORT fmi2Status name(__VA_ARGS__) \
    { \
        (void)component; \
        return OK; \
    }
/* A function for what the model does not have. */
#define NONE(name, ...) \
    EXPORT fmi2Status name(__VA_ARGS__) \
    { \
        (void)component, (void)values; \
        return STATUS(count == 0); \
    }

EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean on, size_t count, const fmi2String *values)
{
    (void)component, (void)on, (void)count, (void)values;
    return OK;
}

EXPORT fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean has_tolerance, double tolerance, double start,
    fmi2Boolean has_stop, double stop)
{
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    state_start(NOW, (real)start);
    return OK;
}

NOTHING(fmi2EnterInitializationMode, fmi2Component component)
NOTHING(fmi2ExitInitializationMode, fmi2Component component)
NOTHING(fmi2Terminate, fmi2Component component)
NOTHING(fmi2EnterEventMode, fmi2Component component)
NOTHING(fmi2EnterContinuousTimeMode, fmi2Component component)

EXPORT fmi2Status fmi2Reset(fmi2Component component)
{
    state_reset(NOW);
    return OK;
}

EXPORT fmi2Status fmi2GetReal(fmi2Component component, const uint32_t *references, size_t count, double *values)
{
    return STATUS(state_get(NOW, references, count, values));
}

EXPORT fmi2Status fmi2SetReal(fmi2Component component, const uint32_t *references, size_t count, const double *values)
{
    return STATUS(state_set(NOW, references, count, values));
}

#define REFERENCES fmi2Component component, const uint32_t *references, size_t count
#define NONE_OF(name, ...) \
    EXPORT fmi2Status name(REFERENCES, __VA_ARGS__) \
    { \
        (void)component, (void)references, (void)values; \
        return STATUS(count == 0); \
    }
NONE_OF(fmi2GetInteger, int *values)
NONE_OF(fmi2GetBoolean, fmi2Boolean *values)
NONE_OF(fmi2GetString, fmi2String *values)
NONE_OF(fmi2SetInteger, const int *values)
NONE_OF(fmi2SetBoolean, const fmi2Boolean *values)
NONE_OF(fmi2SetString, const fmi2String *values)

EXPORT fmi2Status fmi2SetRealInputDerivatives(REFERENCES, const int *orders, const double *values)
{
    (void)component, (void)references, (void)orders, (void)values;
    return STATUS(count == 0);
}

EXPORT fmi2Status fmi2GetRealOutputDerivatives(REFERENCES, const int *orders, double *values)
{
    (void)component, (void)references, (void)orders, (void)values;
    return STATUS(count == 0);
}

EXPORT fmi2Status fmi2GetFMUstate(fmi2Component component, void **kept)
{
    return STATUS(state_keep(NOW, kept));
}

EXPORT fmi2Status fmi2SetFMUstate(fmi2Component component, void *kept)
{
    memcpy(NOW, kept, sizeof(state));
    return OK;
}

EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component component, void **kept)
{
    (void)component;
    free(*kept);
    *kept = NULL;
    return OK;
}

EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, void *kept, size_t *size)
{
    (void)component, (void)kept;
    *size = sizeof(state);
    return OK;
}

EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component component, void *kept, char *bytes, size_t size)
{
    (void)component;
    if (size < sizeof(state)) {
        return FAILED;
    }
    memcpy(bytes, kept, sizeof(state));
    return OK;
}

EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const char *bytes, size_t size, void **kept)
{
    (void)component;
    return STATUS(size == sizeof(state) && state_keep(bytes, kept));
}

EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const uint32_t *unknowns, size_t unknown_count,
    const uint32_t *knowns, size_t known_count, const double *seed, double *change)
{
    return STATUS(state_direction(NOW, unknowns, unknown_count, knowns, known_count, seed, change));
}

EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component component, fmi2EventInfo *info)
{
    (void)component;
    memset(info, 0, sizeof *info);
    return OK;
}

EXPORT fmi2Status fmi2CompletedIntegratorStep(fmi2Component component, fmi2Boolean keeps, fmi2Boolean *event, fmi2Boolean *ends)
{
    (void)component, (void)keeps;
    *event = *ends = 0;
    return OK;
}

EXPORT fmi2Status fmi2SetTime(fmi2Component component, double time)
{
    NOW->time = (real)time;
    return OK;
}

EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component component, const double *values, size_t count)
{
    size_t i;
    for (i = 0; i < count && i < MODEL_STATES; ++i) {
        NOW->x[i] = (real)values[i];
    }
    return STATUS(count == MODEL_STATES);
}

EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component component, double *values, size_t count)
{
    size_t i;
    for (i = 0; i < count && i < MODEL_STATES; ++i) {
        values[i] = NOW->x[i];
    }
    return STATUS(count == MODEL_STATES);
}

EXPORT fmi2Status fmi2GetDerivatives(fmi2Component component, double *values, size_t count)
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

NONE(fmi2GetEventIndicators, fmi2Component component, double *values, size_t count)

EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component component, double *values, size_t count)
{
    size_t i;
    (void)component;
    for (i = 0; i < count; ++i) {
        values[i] = 1.0;
    }
    return OK;
}

EXPORT fmi2Status fmi2DoStep(fmi2Component component, double time, double length, fmi2Boolean no_return)
{
    (void)no_return;
    return STATUS(length > 0 && state_advance(NOW, (real)time, (real)length));
}

#define NO_STATUS(name, type) \
    EXPORT fmi2Status name(fmi2Component component, int kind, type *value) \
    { \
        (void)component, (void)kind, (void)value; \
        return FAILED; \
    }
NO_STATUS(fmi2GetStatus, fmi2Status)
NO_STATUS(fmi2GetRealStatus, double)
NO_STATUS(fmi2GetIntegerStatus, int)
NO_STATUS(fmi2GetBooleanStatus, fmi2Boolean)
NO_STATUS(fmi2GetStringStatus, fmi2String)

EXPORT fmi2Status fmi2CancelStep(fmi2Component component)
{
    (void)component;
    return FAILED;
}
