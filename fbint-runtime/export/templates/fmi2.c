
/* FMI 2.0. */

typedef struct fmi2CallbackFunctions {
    void (*logger)(void *, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(void *, fmi2Status);
    void *environment;
} fmi2CallbackFunctions;

typedef struct fmi2EventInfo {
    int newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    int valuesOfContinuousStatesChanged, nextEventTimeDefined;
    double nextEventTime;
} fmi2EventInfo;

DOES(EnterInitializationMode, NOTHING)
DOES(EnterEventMode, NOTHING)

EXPORT const char *fmi2GetTypesPlatform(void)
{
    return "default";
}

EXPORT const char *fmi2GetVersion(void)
{
    return "2.0";
}

EXPORT fmi2Instance fmi2Instantiate(fmi2String name, int type, fmi2String guid, fmi2String resources,
    const fmi2CallbackFunctions *functions, int visible, int logging)
{
    const int allocates = functions != NULL && functions->allocateMemory != NULL && functions->freeMemory != NULL;
    void *const memory = allocates ? functions->allocateMemory(1, sizeof(instance)) : calloc(1, sizeof(instance));
    void (*const free_memory)(void *) = allocates ? functions->freeMemory : free;
    instance *const made_of_it = made(guid, memory, free_memory);
    if (made_of_it == NULL) {
        free_memory(memory);
        if (functions != NULL && functions->logger != NULL) {
            functions->logger(functions->environment, name, FAILED, "error", "The GUID is not that of this FMU, or memory is short.");
        }
    }
    return made_of_it;
}

EXPORT fmi2Status fmi2SetupExperiment(fmi2Instance component, int has_tolerance, double tolerance, double start, int has_stop,
    double stop)
{
    state_start(NOW, (real)start);
    return OK;
}

EXPORT fmi2Status fmi2GetReal(REFERENCES, double *values)
{
    return STATUS(state_get(NOW, references, count, values));
}

EXPORT fmi2Status fmi2SetReal(REFERENCES, const double *values)
{
    return STATUS(state_set(NOW, references, count, values));
}

/* Variables of types, and orders of derivatives, that the model does not have. */
#define NONE_OF(name, ...) \
    EXPORT fmi2Status name(REFERENCES, __VA_ARGS__) \
    { \
        return STATUS(count == 0); \
    }
NONE_OF(fmi2GetInteger, int *values)
NONE_OF(fmi2GetBoolean, int *values)
NONE_OF(fmi2GetString, fmi2String *values)
NONE_OF(fmi2SetInteger, const int *values)
NONE_OF(fmi2SetBoolean, const int *values)
NONE_OF(fmi2SetString, const fmi2String *values)
NONE_OF(fmi2SetRealInputDerivatives, const int *values, const double *derivatives)
NONE_OF(fmi2GetRealOutputDerivatives, const int *values, double *derivatives)

EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Instance component, const uint32_t *unknowns, size_t unknown_count,
    const uint32_t *knowns, size_t known_count, const double *seed, double *change)
{
    return STATUS(state_direction(NOW, unknowns, unknown_count, knowns, known_count, seed, change));
}

EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Instance component, fmi2EventInfo *info)
{
    memset(info, 0, sizeof *info);
    info->valuesOfContinuousStatesChanged = state_take(NOW);
    info->terminateSimulation = NOW->run.is_over;
    info->nextEventTimeDefined = state_has_next(NOW, &info->nextEventTime);
    return OK;
}

EXPORT fmi2Status fmi2DoStep(fmi2Instance component, double time, double length, int no_return)
{
    if (!(length > 0 && state_advance(NOW, (real)time, (real)length))) {
        return FAILED;
    }
    return NOW->run.is_over ? DISCARDED : OK;
}

EXPORT fmi2Status fmi2GetRealStatus(fmi2Instance component, int kind, double *value)
{
    *value = NOW->time;
    /* The last successful time. */
    return kind == 2 ? OK : FAILED;
}

EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Instance component, int kind, int *value)
{
    *value = NOW->run.is_over;
    /* Whether the simulation has terminated. */
    return kind == 3 ? OK : FAILED;
}

#define NO_STATUS(name, type) \
    EXPORT fmi2Status name(fmi2Instance component, int kind, type *value) \
    { \
        return FAILED; \
    }
NO_STATUS(fmi2GetStatus, fmi2Status)
NO_STATUS(fmi2GetIntegerStatus, int)
NO_STATUS(fmi2GetStringStatus, fmi2String)

EXPORT fmi2Status fmi2CancelStep(fmi2Instance component)
{
    return FAILED;
}
