/* The period of a pendulum in C, from a model that fbint exported:
 *
 *     fbint export pendulum.rs --c .
 *     cc -O2 period.c pendulum.c -o period -lm
 *     ./period
 *
 * Nothing is allocated, and no function of the model keeps anything between calls. */
#include <stdio.h>

#include "pendulum.h"

int main(void)
{
    const double h = 1e-3;
    pendulum_parameters parameters;
    pendulum_system system;
    pendulum_run run;
    real x[PENDULUM_STATES];
    double before, period;
    long step = 0;

    pendulum_default_parameters(&parameters);
    parameters.l = 0.25;
    pendulum_prepare(&parameters, &system);

    /* From rest, level with the pivot: x has the position q[0], q[1] and the momentum p[0], p[1]. */
    x[0] = parameters.l;
    x[1] = x[2] = x[3] = 0;
    pendulum_begin_projected(&run, &system, x);

    /* It passes the lowest point after a quarter of a period: there p[1] rises through 0. */
    do {
        before = x[3];
        ++step;
        pendulum_step_rk4(&run, x, h, step * h);
    } while (x[3] < 0);

    period = 4 * h * ((double)step - x[3] / (x[3] - before));
    printf("a pendulum of 25 cm, released level with its pivot, has a period of %.5f s\n", period);
    return 0;
}
