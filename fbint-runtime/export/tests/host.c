/* An importer of the FMU of FMI 2.0, whose functions are linked to it: instances, their states, and directional derivatives. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct callbacks {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} callbacks;

void *fmi2Instantiate(const char *, int, const char *, const char *, const callbacks *, int, int);
void fmi2FreeInstance(void *);
int fmi2SetupExperiment(void *, int, double, double, int, double);
int fmi2EnterInitializationMode(void *);
int fmi2ExitInitializationMode(void *);
int fmi2Reset(void *);
int fmi2GetReal(void *, const uint32_t *, size_t, double *);
int fmi2SetReal(void *, const uint32_t *, size_t, const double *);
int fmi2GetFMUstate(void *, void **);
int fmi2SetFMUstate(void *, void *);
int fmi2FreeFMUstate(void *, void **);
int fmi2SerializedFMUstateSize(void *, void *, size_t *);
int fmi2SerializeFMUstate(void *, void *, char *, size_t);
int fmi2DeSerializeFMUstate(void *, const char *, size_t, void **);
int fmi2GetDirectionalDerivative(void *, const uint32_t *, size_t, const uint32_t *, size_t, const double *, double *);
int fmi2DoStep(void *, double, double, int);

static const uint32_t STATES[STATE_COUNT + 1] = { STATE_LIST 0 };

static void must(int is_true, const char *what)
{
    if (!is_true) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void *begun(const callbacks *own)
{
    void *made = fmi2Instantiate("one", 1, TOKEN, "", own, 0, 0);
    must(made != NULL, "an instance is made");
    must(fmi2SetupExperiment(made, 0, 0, 0, 0, 0) == 0, "it is set up");
    must(fmi2EnterInitializationMode(made) == 0 && fmi2ExitInitializationMode(made) == 0, "it is initialised");
    return made;
}

static void steps(void *made, int from, int count)
{
    int i;
    for (i = from; i < from + count; ++i) {
        must(fmi2DoStep(made, i * 1e-3, 1e-3, 1) == 0, "a step is made");
    }
}

static void same(void *one, void *other, const char *what)
{
    double x[2][STATE_COUNT];
    must(fmi2GetReal(one, STATES, STATE_COUNT, x[0]) == 0 && fmi2GetReal(other, STATES, STATE_COUNT, x[1]) == 0, "states");
    must(memcmp(x[0], x[1], sizeof x[0]) == 0, what);
}

static void derivative(void *made)
{
    const uint32_t rate = STATES[0] + STATE_COUNT;
    double x, seed = 1, exact, before, after;
    int i;
    for (i = 0; i < STATE_COUNT; ++i) {
        const uint32_t known = STATES[i];
        must(fmi2GetDirectionalDerivative(made, &rate, 1, &known, 1, &seed, &exact) == 0, "a directional derivative");
        fmi2GetReal(made, &known, 1, &x);
        x += 1e-6;
        fmi2SetReal(made, &known, 1, &x);
        fmi2GetReal(made, &rate, 1, &after);
        x -= 2e-6;
        fmi2SetReal(made, &known, 1, &x);
        fmi2GetReal(made, &rate, 1, &before);
        x += 1e-6;
        fmi2SetReal(made, &known, 1, &x);
        must(fabs((after - before) / 2e-6 - exact) < 1e-6 * (1 + fabs(exact)), "it is that of differences");
    }
}

int main(void)
{
    const callbacks own = { NULL, calloc, free, NULL, NULL };
    void *one = begun(&own), *other = begun(&own), *kept = NULL, *read = NULL;
    const uint32_t none = 100000;
    char *bytes;
    size_t size;
    double number;
    must(fmi2Instantiate("one", 1, "another", "", &own, 0, 0) == NULL, "another GUID is refused");
    must(fmi2GetReal(one, &none, 1, &number) != 0, "a reference that means nothing is refused");
    steps(one, 0, 50);
    must(fmi2GetFMUstate(one, &kept) == 0, "a state is kept");
    steps(other, 0, 50);
    same(one, other, "instances do not disturb one another");
    steps(one, 50, 50);
    must(fmi2SerializedFMUstateSize(other, kept, &size) == 0, "a size");
    bytes = (char *)malloc(size);
    must(fmi2SerializeFMUstate(other, kept, bytes, size) == 0, "a state is written");
    must(fmi2Reset(other) == 0, "an instance is reset");
    must(fmi2DeSerializeFMUstate(other, bytes, size, &read) == 0 && fmi2SetFMUstate(other, read) == 0, "and set");
    steps(other, 50, 50);
    same(one, other, "a state that was kept goes on as it did");
    must(fmi2FreeFMUstate(one, &kept) == 0 && fmi2FreeFMUstate(one, &read) == 0 && kept == NULL, "states are freed");
    derivative(one);
    fmi2Reset(one);
    fmi2SetupExperiment(one, 0, 0, 0, 0, 0);
    steps(one, 0, 100);
    must(fmi2GetReal(one, STATES, 1, &number) == 0, "a state");
    fmi2FreeInstance(other);
    other = begun(&own);
    steps(other, 0, 100);
    same(one, other, "an instance that was reset is as a new one");
    fmi2FreeInstance(one);
    fmi2FreeInstance(other);
    free(bytes);
    return 0;
}
