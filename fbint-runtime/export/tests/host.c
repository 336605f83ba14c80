/* An importer of an FMU, whose functions are linked to it: instances, their states, directional derivatives, and parameters; FMI is 2 or 3. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FMI == 2
typedef struct callbacks {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} callbacks;
typedef char byte;

#define NAME(two, three) fmi2##two
void *fmi2Instantiate(const char *, int, const char *, const char *, const callbacks *, int, int);
int fmi2SetupExperiment(void *, int, double, double, int, double);
int fmi2EnterInitializationMode(void *);
int fmi2GetReal(void *, const uint32_t *, size_t, double *);
int fmi2SetReal(void *, const uint32_t *, size_t, const double *);
int fmi2GetDirectionalDerivative(void *, const uint32_t *, size_t, const uint32_t *, size_t, const double *, double *);
int fmi2DoStep(void *, double, double, int);

static void *instance_of(const char *token)
{
    static const callbacks own = { NULL, calloc, free, NULL, NULL };
    return fmi2Instantiate("one", 1, token, "", &own, 0, 0);
}
#define INITIALISE(made) (fmi2SetupExperiment(made, 0, 0, 0, 0, 0) | fmi2EnterInitializationMode(made))
#define GET(made, list, count, values) fmi2GetReal(made, list, count, values)
#define SET(made, list, count, values) fmi2SetReal(made, list, count, values)
#define DERIVATIVE(made, of, by, seed, value) fmi2GetDirectionalDerivative(made, of, 1, by, 1, seed, value)
#define STEP(made, time, length) fmi2DoStep(made, time, length, 1)
#else
typedef uint8_t byte;

#define NAME(two, three) fmi3##three
void *fmi3InstantiateCoSimulation(const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t *, size_t, void *,
    void (*)(void *, int, const char *, const char *), void *);
int fmi3EnterInitializationMode(void *, bool, double, double, bool, double);
int fmi3GetFloat64(void *, const uint32_t *, size_t, double *, size_t);
int fmi3SetFloat64(void *, const uint32_t *, size_t, const double *, size_t);
int fmi3GetDirectionalDerivative(void *, const uint32_t *, size_t, const uint32_t *, size_t, const double *, size_t, double *, size_t);
int fmi3GetAdjointDerivative(void *, const uint32_t *, size_t, const uint32_t *, size_t, const double *, size_t, double *, size_t);
int fmi3DoStep(void *, double, double, bool, bool *, bool *, bool *, double *);

static void *instance_of(const char *token)
{
    return fmi3InstantiateCoSimulation("one", token, "", false, false, false, false, NULL, 0, NULL, NULL, NULL);
}
static int made_step(void *made, double time, double length)
{
    bool event, ends, early;
    double last;
    return fmi3DoStep(made, time, length, true, &event, &ends, &early, &last);
}
#define INITIALISE(made) fmi3EnterInitializationMode(made, false, 0, 0, false, 0)
#define GET(made, list, count, values) fmi3GetFloat64(made, list, count, values, count)
#define SET(made, list, count, values) fmi3SetFloat64(made, list, count, values, count)
#define DERIVATIVE(made, of, by, seed, value) fmi3GetDirectionalDerivative(made, of, 1, by, 1, seed, 1, value, 1)
#define ADJOINT(made, of, by, seed, value) fmi3GetAdjointDerivative(made, of, 1, by, 1, seed, 1, value, 1)
#define STEP(made, time, length) made_step(made, time, length)
#endif
void NAME(FreeInstance, FreeInstance)(void *);
int NAME(ExitInitializationMode, ExitInitializationMode)(void *);
int NAME(Reset, Reset)(void *);
int NAME(GetFMUstate, GetFMUState)(void *, void **);
int NAME(SetFMUstate, SetFMUState)(void *, void *);
int NAME(FreeFMUstate, FreeFMUState)(void *, void **);
int NAME(SerializedFMUstateSize, SerializedFMUStateSize)(void *, void *, size_t *);
int NAME(SerializeFMUstate, SerializeFMUState)(void *, void *, byte *, size_t);
int NAME(DeSerializeFMUstate, DeserializeFMUState)(void *, const byte *, size_t, void **);

static const uint32_t STATES[STATE_COUNT + 1] = { STATE_LIST 0 };

static void must(int is_true, const char *what)
{
    if (!is_true) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void initialise(void *made)
{
    must(INITIALISE(made) == 0 && NAME(ExitInitializationMode, ExitInitializationMode)(made) == 0, "it is initialised");
}

static void *begun(void)
{
    void *made = instance_of(TOKEN);
    must(made != NULL, "an instance is made");
    initialise(made);
    return made;
}

static void steps(void *made, int from, int count)
{
    int i;
    for (i = from; i < from + count; ++i) {
        must(STEP(made, i * 1e-3, 1e-3) == 0, "a step is made");
    }
}

static void same(void *one, void *other, const char *what)
{
    double x[2][STATE_COUNT];
    must(GET(one, STATES, STATE_COUNT, x[0]) == 0 && GET(other, STATES, STATE_COUNT, x[1]) == 0, "states");
    must(memcmp(x[0], x[1], sizeof x[0]) == 0, what);
}

/* The value of an unknown where a known is moved. */
static double moved(void *made, uint32_t unknown, uint32_t known, double distance)
{
    double before, there, value;
    GET(made, &known, 1, &before);
    there = before + distance;
    SET(made, &known, 1, &there);
    GET(made, &unknown, 1, &value);
    SET(made, &known, 1, &before);
    return value;
}

static void derivative(void *made, uint32_t unknown, uint32_t known)
{
    const double seed = 1, h = 1e-5;
    double exact, of_differences;
    must(DERIVATIVE(made, &unknown, &known, &seed, &exact) == 0, "a directional derivative");
    of_differences = (moved(made, unknown, known, h) - moved(made, unknown, known, -h)) / (2 * h);
    must(fabs(of_differences - exact) < 1e-7 * (1 + fabs(exact)), "it is that of differences");
#if FMI == 3
    {
        double adjoint;
        must(ADJOINT(made, &unknown, &known, &seed, &adjoint) == 0, "an adjoint derivative");
        must(fabs(adjoint - exact) < 1e-13 * (1 + fabs(exact)), "it is the same");
    }
#endif
}

/* Of the rates, the output and the integrals by the states, the parameters and the inputs. */
static void derivatives(void *made, uint32_t inputs)
{
    const uint32_t rates = STATES[0] + STATE_COUNT, parameters = rates + STATE_COUNT, input = LENGTH + 1, output = input + 2;
    const double seed = 1;
    double value;
    uint32_t unknown, known;
    for (unknown = rates; unknown <= output + INTEGRAL_COUNT; ++unknown) {
        for (known = STATES[0]; (unknown < parameters || unknown >= output) && known < input + inputs; ++known) {
            if (known < rates || known >= parameters) {
                derivative(made, unknown, known);
            }
        }
    }
    must(DERIVATIVE(made, &input, &rates, &seed, &value) != 0, "an input is no unknown");
    must(DERIVATIVE(made, &rates, &output, &seed, &value) != 0, "an output is no known");
}

/* A parameter changes, and the start is moved onto the constraint that depends on it. */
static void longer_rod(void *made)
{
    const uint32_t l = LENGTH;
    double length = 1.25, x[STATE_COUNT];
    must(NAME(Reset, Reset)(made) == 0 && SET(made, &l, 1, &length) == 0, "a parameter is set");
    initialise(made);
    must(GET(made, STATES, STATE_COUNT, x) == 0 && fabs(hypot(x[0], x[1]) - length) < 1e-14, "the rod has its length");
    steps(made, 0, 100);
    must(GET(made, STATES, STATE_COUNT, x) == 0 && fabs(hypot(x[0], x[1]) - length) < 1e-14, "and keeps it");
}

int main(void)
{
    void *one = begun(), *other = begun(), *kept = NULL, *read = NULL;
    const uint32_t none = 100000, brake = LENGTH + 2;
    byte *bytes;
    size_t size;
    double number;
    must(instance_of("another") == NULL, "another GUID is refused");
    must(GET(one, &none, 1, &number) != 0, "a reference that means nothing is refused");
    steps(one, 0, 50);
    must(NAME(GetFMUstate, GetFMUState)(one, &kept) == 0, "a state is kept");
    steps(other, 0, 50);
    same(one, other, "instances do not disturb one another");
    steps(one, 50, 50);
    must(NAME(SerializedFMUstateSize, SerializedFMUStateSize)(other, kept, &size) == 0, "a size");
    bytes = (byte *)malloc(size);
    must(NAME(SerializeFMUstate, SerializeFMUState)(other, kept, bytes, size) == 0, "a state is written");
    must(NAME(Reset, Reset)(other) == 0, "an instance is reset");
    must(NAME(DeSerializeFMUstate, DeserializeFMUState)(other, bytes, size, &read) == 0 && NAME(SetFMUstate, SetFMUState)(other, read) == 0, "and set");
    steps(other, 50, 50);
    same(one, other, "a state that was kept goes on as it did");
    must(NAME(FreeFMUstate, FreeFMUState)(one, &kept) == 0 && NAME(FreeFMUstate, FreeFMUState)(one, &read) == 0 && kept == NULL, "states are freed");
    /* The brake follows its law until it is set. */
    derivatives(one, 1);
    number = 0.25;
    must(SET(one, &brake, 1, &number) == 0, "an input is set");
    derivatives(one, 2);
    longer_rod(one);
    NAME(Reset, Reset)(one);
    initialise(one);
    steps(one, 0, 100);
    must(GET(one, STATES, 1, &number) == 0, "a state");
    NAME(FreeInstance, FreeInstance)(other);
    other = begun();
    steps(other, 0, 100);
    same(one, other, "an instance that was reset is as a new one");
    NAME(FreeInstance, FreeInstance)(one);
    NAME(FreeInstance, FreeInstance)(other);
    free(bytes);
    return 0;
}
