/* written by fbint @version@
 *
 * A run by the classical Runge-Kutta method: `main [STEP [STEPS]]` prints the time and the state after every step, and events on stderr.
 * With integrals, states are projected after each step, as `fbint run --method rk4` does by default. */
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
    real time = (real)@from@;
    long step;
    int i, event = MODEL_NO_EVENT;
    model_default_parameters(&parameters);
    model_prepare(&parameters, &system);
    model_default_start(x);
    if (MODEL_PROJECTS) {
        model_begin_projected(&run, &system, x);
    } else {
        model_begin_plain(&run, &system, x);
    }
    for (step = 0; step <= steps && event != MODEL_FAILED && !run.is_over; ++step) {
        const real begun = time, end = (real)(@from@ + (double)step * h);
        while (time < end && event != MODEL_FAILED && !run.is_over) {
            event = model_advance(&run, model_step_rk4, x, &time, time == begun ? (real)h : end - time, end);
            if (event >= 0) {
                fprintf(stderr, "%s at %.17g\n", model_event_names[event], (double)time);
            }
        }
        printf("%.17g", (double)time);
        for (i = 0; i < MODEL_STATES; ++i) {
            printf(",%.17g", (double)x[i]);
        }
        printf("\n");
    }
    if (run.has_left_out > 0) {
        fprintf(stderr, "%d projections were left out\n", run.has_left_out);
    }
    return event == MODEL_FAILED;
}
