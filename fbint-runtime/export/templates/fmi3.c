
/* FMI 3.0. */
typedef void (*fmi3Log)(void *, fmi3Status, fmi3String, fmi3String);

/* Variables of types that the model does not have. */
#define NONE_OF(name, ...) \
    EXPORT fmi3Status name(REFERENCES, __VA_ARGS__) \
    { \
        return STATUS(count == 0); \
    }
#define NONE_OF_TYPE(type, element) \
    NONE_OF(fmi3Get##type, element *values, size_t value_count) \
    NONE_OF(fmi3Set##type, const element *values, size_t value_count)
/* A function for what the model does not have. */
#define NONE(name, ...) \
    EXPORT fmi3Status name(__VA_ARGS__) \
    { \
        return FAILED; \
    }

EXPORT const char *fmi3GetVersion(void)
{
    return "3.0";
}

static fmi3Instance instantiated(fmi3String given, void *environment, fmi3Log log)
{
    void *const memory = calloc(1, sizeof(instance));
    instance *const made_of_it = made(given, memory, free);
    if (made_of_it == NULL) {
        free(memory);
        if (log != NULL) {
            log(environment, FAILED, "error", "The instantiation token is not that of this FMU, or memory is short.");
        }
    }
    return made_of_it;
}

EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String given, fmi3String resources, bool visible,
    bool logging, void *environment, fmi3Log log)
{
    return instantiated(given, environment, log);
}

EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String given, fmi3String resources, bool visible,
    bool logging, bool has_events, bool returns_early, const uint32_t *intermediate, size_t count, void *environment,
    fmi3Log log, void *update)
{
    return instantiated(given, environment, log);
}

EXPORT fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String given, fmi3String resources, bool visible,
    bool logging, void *environment, fmi3Log log, void *update, void *lock, void *unlock)
{
    return NULL;
}

EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance component, bool has_tolerance, double tolerance, double start,
    bool has_stop, double stop)
{
    state_start(NOW, (real)start);
    return OK;
}

DOES(EnterEventMode, NOTHING)
DOES(EnterConfigurationMode, NOTHING)
DOES(ExitConfigurationMode, NOTHING)
DOES(EvaluateDiscreteStates, NOTHING)
DOES(EnterStepMode, NOTHING)

EXPORT fmi3Status fmi3GetFloat64(REFERENCES, double *values, size_t value_count)
{
    return STATUS(count == value_count && state_get(NOW, references, count, values));
}

EXPORT fmi3Status fmi3SetFloat64(REFERENCES, const double *values, size_t value_count)
{
    return STATUS(count == value_count && state_set(NOW, references, count, values));
}

NONE_OF_TYPE(Float32, float)
NONE_OF_TYPE(Int8, int8_t)
NONE_OF_TYPE(UInt8, uint8_t)
NONE_OF_TYPE(Int16, int16_t)
NONE_OF_TYPE(UInt16, uint16_t)
NONE_OF_TYPE(Int32, int32_t)
NONE_OF_TYPE(UInt32, uint32_t)
NONE_OF_TYPE(Int64, int64_t)
NONE_OF_TYPE(UInt64, uint64_t)
NONE_OF_TYPE(Boolean, bool)
NONE_OF_TYPE(String, fmi3String)
NONE_OF(fmi3GetBinary, size_t *sizes, const uint8_t **values, size_t value_count)
NONE_OF(fmi3SetBinary, const size_t *sizes, const uint8_t *const *values, size_t value_count)
NONE_OF(fmi3GetClock, bool *values)
NONE_OF(fmi3SetClock, const bool *values)

EXPORT fmi3Status fmi3GetDirectionalDerivative(fmi3Instance component, const uint32_t *unknowns, size_t unknown_count,
    const uint32_t *knowns, size_t known_count, const double *seed, size_t seed_count, double *change, size_t change_count)
{
    return STATUS(state_direction(NOW, unknowns, unknown_count, knowns, known_count, seed, change));
}

static void add_gradient(const real *part, model_direction *gradient)
{
    int i;
    for (i = 0; i < MODEL_STATES; ++i) {
        gradient->x[i] += part[i];
    }
    for (i = 0; i < MODEL_PARAMETERS; ++i) {
        gradient->p[i] += part[MODEL_STATES + i];
    }
    for (i = 0; i < MODEL_INPUTS; ++i) {
        gradient->u[i] += part[MODEL_STATES + MODEL_PARAMETERS + i];
    }
}

/* The derivatives of a sum of unknowns by knowns; the seeds are the weights of the unknowns. */
static int state_adjoint(state *now, const uint32_t *of, size_t unknown_count, const uint32_t *by, size_t known_count,
    const double *seed, double *derivatives)
{
    const model_system *const system = state_refresh(now);
    real part[@unknown_room@];
    unknowns weights, changes;
    model_direction gradient;
    int by_knowns = 0, is_well = 1;
    size_t i, k;
#if @switches@
    by_knowns = state_slides(now);
#endif
    memset(&weights, 0, sizeof weights);
    memset(&gradient, 0, sizeof gradient);
    for (i = 0; i < unknown_count; ++i) {
        real *const unknown = of_unknown(&weights, of[i]);
        if (unknown == NULL) {
            return 0;
        }
        *unknown = (real)seed[i];
        by_knowns |= references_below(of[i]) >= VR_EVENT;
    }
    for (k = 0; by_knowns && k < known_count; ++k) {
        const double one = 1;
        is_well &= state_change(now, &by[k], 1, &one, &changes);
        derivatives[k] = 0;
        for (i = 0; i < unknown_count; ++i) {
            derivatives[k] += seed[i] * *of_unknown(&changes, of[i]);
        }
    }
    if (by_knowns) {
        return is_well;
    }
    model_vector_field_adjoint(system, now->x, weights.rates, part);
    add_gradient(part, &gradient);
    model_outputs_adjoint(system, now->x, weights.outputs, part);
    add_gradient(part, &gradient);
    model_integrals_adjoint(system, now->x, weights.integrals, part);
    add_gradient(part, &gradient);
#if @followed@
    {
        real by_law[@input_room@];
        for (i = 0; i < MODEL_INPUTS; ++i) {
            by_law[i] = system->is_given[i] ? 0 : gradient.u[i];
            gradient.u[i] -= by_law[i];
        }
        model_law_adjoint(system, now->x, by_law, part);
        add_gradient(part, &gradient);
    }
#endif
    for (i = 0; i < known_count; ++i) {
        const real *const known = of_known(&gradient, by[i]);
        if (known == NULL) {
            return 0;
        }
        derivatives[i] = *known;
    }
    return 1;
}

EXPORT fmi3Status fmi3GetAdjointDerivative(fmi3Instance component, const uint32_t *unknowns, size_t unknown_count,
    const uint32_t *knowns, size_t known_count, const double *seed, size_t seed_count, double *values, size_t value_count)
{
    return STATUS(state_adjoint(NOW, unknowns, unknown_count, knowns, known_count, seed, values));
}

EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance component, bool *again, bool *ends, bool *nominals, bool *values,
    bool *has_next, double *next)
{
    *again = *nominals = false;
    *values = state_take(NOW) != 0;
    *has_next = state_has_next(NOW, next) != 0;
    *ends = NOW->run.is_over != 0;
    return OK;
}

EXPORT fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance component, size_t *count)
{
    *count = MODEL_STATES;
    return OK;
}

EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance component, size_t *count)
{
    *count = @watched@;
    return OK;
}

EXPORT fmi3Status fmi3DoStep(fmi3Instance component, double time, double length, bool no_return, bool *event, bool *ends,
    bool *early, double *last)
{
    const int is_well = length > 0 && state_advance(NOW, (real)time, (real)length);
    *event = *early = false;
    *ends = NOW->run.is_over != 0;
    *last = NOW->time;
    return STATUS(is_well);
}

NONE(fmi3GetNumberOfVariableDependencies, fmi3Instance component, uint32_t reference, size_t *count)
NONE(fmi3GetVariableDependencies, fmi3Instance component, uint32_t reference, size_t *elements, uint32_t *independents,
    size_t *more, int *kinds, size_t count)
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
