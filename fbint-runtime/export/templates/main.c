/* written by fbint @version@
 *
 * A run by the classical Runge-Kutta method: `main [STEP [STEPS]]` prints the time and the state after every step. With integrals, states
 * are projected after each step, as `fbint run --method rk4` does by default. */
#include <stdio.h>
#include <stdlib.h>

#include "@prefix@.h"

int main(int count, char **arguments)
{
    const double h = count > 1 ? strtod(arguments[1], 0) : 1e-3;
    const long steps = count > 2 ? strtol(arguments[2], 0, 10) : 1000;
    model_parameters parameters;
    model_system system;
    model_run run;
    real x[@state_room@];
    long step;
    int i, left_out = 0;
    model_default_parameters(&parameters);
    model_prepare(&parameters, &system);
    model_default_start(x);
    if (MODEL_PROJECTS) {
        model_begin_projected(&run, &system, x);
    } else {
        model_begin_plain(&run, &system);
    }
    for (step = 0; step <= steps; ++step) {
        if (step > 0) {
            left_out += model_step_rk4(&run, x, (real)h, (real)(@from@ + (double)step * h));
        }
        printf("%.17g", @from@ + (double)step * h);
        for (i = 0; i < MODEL_STATES; ++i) {
            printf(",%.17g", (double)x[i]);
        }
        printf("\n");
    }
    if (left_out > 0) {
        fprintf(stderr, "%d projections were left out\n", left_out);
    }
    return 0;
}
