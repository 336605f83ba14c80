
/* Functions of both versions of FMI, which differ in names and in how they write a truth. Many get more than they need. */
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

typedef void *@fmi@Instance;
typedef int @fmi@Status;
typedef const char *@fmi@String;

enum { OK = 0, DISCARDED = 2, FAILED = 3 };

#define NOW (&((instance *)component)->now)
#define STATUS(is_well) ((is_well) ? OK : FAILED)
#define REFERENCES @fmi@Instance component, const uint32_t *references, size_t count
/* A function of an instance alone. */
#define DOES(name, what) \
    EXPORT @fmi@Status @fmi@##name(@fmi@Instance component) \
    { \
        return STATUS(what); \
    }
#define NOTHING (component != NULL)

static instance *made(@fmi@String given, void *memory, void (*free_memory)(void *))
{
    instance *const made = given != NULL && strcmp(given, token) == 0 ? (instance *)memory : NULL;
    if (made != NULL) {
        made->free_memory = free_memory;
        state_reset(&made->now);
    }
    return made;
}

static int initialised(state *now)
{
    now->is_initialised = 1;
    return state_begin(now);
}

static int reset(state *now)
{
    state_reset(now);
    return 1;
}

DOES(ExitInitializationMode, initialised(NOW))
DOES(Reset, reset(NOW))
DOES(Terminate, NOTHING)
DOES(EnterContinuousTimeMode, NOTHING)

EXPORT void @fmi@FreeInstance(@fmi@Instance component)
{
    if (component != NULL) {
        ((instance *)component)->free_memory(component);
    }
}

EXPORT @fmi@Status @fmi@SetDebugLogging(@fmi@Instance component, @boolean@ on, size_t count, const @fmi@String *values)
{
    return OK;
}

EXPORT @fmi@Status @fmi@Get@FMUState@(@fmi@Instance component, void **kept)
{
    return STATUS(state_keep(NOW, kept));
}

EXPORT @fmi@Status @fmi@Set@FMUState@(@fmi@Instance component, void *kept)
{
    memcpy(NOW, kept, sizeof(state));
    return OK;
}

EXPORT @fmi@Status @fmi@Free@FMUState@(@fmi@Instance component, void **kept)
{
    free(*kept);
    *kept = NULL;
    return OK;
}

EXPORT @fmi@Status @fmi@Serialized@FMUState@Size(@fmi@Instance component, void *kept, size_t *size)
{
    *size = sizeof(state);
    return OK;
}

EXPORT @fmi@Status @fmi@Serialize@FMUState@(@fmi@Instance component, void *kept, @byte@ *bytes, size_t size)
{
    if (size < sizeof(state)) {
        return FAILED;
    }
    memcpy(bytes, kept, sizeof(state));
    return OK;
}

EXPORT @fmi@Status @fmi@@Deserialize@@FMUState@(@fmi@Instance component, const @byte@ *bytes, size_t size, void **kept)
{
    return STATUS(size == sizeof(state) && state_keep(bytes, kept));
}

EXPORT @fmi@Status @fmi@CompletedIntegratorStep(@fmi@Instance component, @boolean@ keeps, @boolean@ *event, @boolean@ *ends)
{
    *event = state_notice(NOW) != 0;
    *ends = 0;
    return OK;
}

EXPORT @fmi@Status @fmi@SetTime(@fmi@Instance component, double time)
{
    state_start(NOW, (real)time);
    return OK;
}

EXPORT @fmi@Status @fmi@SetContinuousStates(@fmi@Instance component, const double *values, size_t count)
{
    size_t i;
    for (i = 0; i < count && i < MODEL_STATES; ++i) {
        NOW->x[i] = (real)values[i];
    }
    return STATUS(count == MODEL_STATES);
}

/* Numbers of every state. */
static @fmi@Status of_states(const real *from, double *values, size_t count)
{
    size_t i;
    for (i = 0; i < count && i < MODEL_STATES; ++i) {
        values[i] = from[i];
    }
    return STATUS(count == MODEL_STATES);
}

EXPORT @fmi@Status @fmi@GetContinuousStates(@fmi@Instance component, double *values, size_t count)
{
    return of_states(NOW->x, values, count);
}

EXPORT @fmi@Status @fmi@Get@Derivatives@(@fmi@Instance component, double *values, size_t count)
{
    real rates[@state_room@];
    (void)state_refresh(NOW);
    model_rates(&NOW->run, NOW->x, rates);
    return of_states(rates, values, count);
}

EXPORT @fmi@Status @fmi@GetNominalsOfContinuousStates(@fmi@Instance component, double *values, size_t count)
{
    size_t i;
    for (i = 0; i < count; ++i) {
        values[i] = 1;
    }
    return STATUS(count == MODEL_STATES);
}

EXPORT @fmi@Status @fmi@GetEventIndicators(@fmi@Instance component, double *values, size_t count)
{
#if @watched@
    real watched[@watched_room@];
    size_t i;
    state_watch(NOW, watched);
    for (i = 0; i < count && i < @watched@; ++i) {
        values[i] = watched[i];
    }
#endif
    return STATUS(count == @watched@);
}
