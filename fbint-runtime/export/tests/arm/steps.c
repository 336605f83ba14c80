/* A thousand projected steps: prints the bytes of the state after them, and how much stack they have taken. */
#include <stdio.h>
#include <string.h>

#include "NAME.h"

#define MOST 65536

static real x[MODEL_STATES];
static model_run run;

static void __attribute__((noinline)) steps(void)
{
    model_parameters parameters;
    model_system system;
    long step;
    model_default_parameters(&parameters);
    model_prepare(&parameters, &system);
    model_default_start(x);
    model_begin_projected(&run, &system, x);
    for (step = 1; step <= 1000; ++step) {
        run.has_left_out += model_step_rk4(&run, x, (real)1e-3, (real)step * (real)1e-3);
    }
}

/* Below the frame of `main` is nothing: what is written there afterwards was stack. */
static long __attribute__((noinline)) stack_of_steps(volatile unsigned char *top)
{
    long depth;
    for (depth = 256; depth < MOST; ++depth) {
        top[-depth] = 0xA5;
    }
    steps();
    for (depth = MOST - 1; depth > 256 && top[-depth] == 0xA5; --depth) {
    }
    return depth;
}

int main(void)
{
    unsigned char here = 0, bytes[sizeof x];
    const long stack = stack_of_steps(&here);
    size_t i;
    memcpy(bytes, x, sizeof x);
    for (i = 0; i < sizeof x; ++i) {
        printf("%02x", bytes[i]);
    }
    printf("\n%d %ld\n", run.has_left_out, stack);
    return 0;
}
