/* Reads doubles from the standard input and writes what the functions of a model make of them, and a run of each kind. */
#include <stdio.h>
#include <string.h>

#include "NAME.h"

#ifndef BIG
#define BIG 20000
#endif

static void get(double *numbers, size_t count)
{
    if (fread(numbers, sizeof *numbers, count, stdin) != count) {
        memset(numbers, 0, count * sizeof *numbers);
    }
}

static void put(const double *numbers, int count)
{
    fwrite(numbers, sizeof *numbers, (size_t)count, stdout);
}

#if MODEL_HAS_DERIVATIVES
/* The derivatives by the state and by inputs. */
static void put_entries(const int *rows, const int *columns, const double *values, int count)
{
    int i;
    for (i = 0; i < count; ++i) {
        const double entry[3] = { rows[i], columns[i], values[i] };
        if (columns[i] < MODEL_STATES || columns[i] >= MODEL_STATES + MODEL_PARAMETERS) {
            put(entry, 3);
        }
    }
}
#endif

int main(void)
{
    static double p[BIG], x[BIG], u[BIG], variances[BIG], noise[BIG], gains[BIG], targets[BIG], normal[2][BIG], k[BIG];
    static double result[BIG], violation[BIG], at[BIG], settings[3];
    static model_run run;
    static model_system system;
    static model_parameters parameters;
    const int n = MODEL_STATES, m = MODEL_INTEGRALS;
    int method, kind, step;
    get(settings, 3);
    get(p, MODEL_PARAMETERS);
    get(at, MODEL_STATES);
    get(k, MODEL_INTEGRALS);
    get(x, MODEL_STATES);
    get(u, MODEL_INPUTS);
    get(variances, MODEL_STATES);
    get(noise, MODEL_INTEGRALS);
    get(gains, MODEL_INTEGRALS);
    get(targets, MODEL_INTEGRALS);
    get(normal[0], MODEL_INTEGRALS);
    get(normal[1], MODEL_INTEGRALS);
#if MODEL_HAS_PARAMETERS
    memcpy(&parameters, p, sizeof parameters);
#endif
    model_prepare(&parameters, &system);
    memcpy(system.u, u, MODEL_INPUTS * sizeof *u);
    model_vector_field(&system, x, result);
    put(result, n);
    model_integrals(&system, x, result);
    put(result, m);
    model_multipliers(&system, x, result);
    put(result, m);
    model_outputs(&system, x, result);
    put(result, MODEL_OUTPUTS);
    model_potential_gradient(&system, x, normal[0], normal[1], result);
    put(result, n);
    model_feedback_field(&system, x, normal[0], normal[1], result);
    put(result, n);
    model_projection(&system, x, variances, noise, targets, violation, result);
    put(result, n);
    put(violation, m);
    model_integrals_jacobian(&system, x, result);
    put(result, m * n);
#if MODEL_HAS_DERIVATIVES
    memset(result, 0, sizeof result);
    model_vector_field_derivatives(&system, x, result);
    put_entries(model_vector_field_derivatives_rows, model_vector_field_derivatives_columns, result,
        MODEL_VECTOR_FIELD_DERIVATIVES);
    model_feedback_field_derivatives(&system, x, gains, targets, result);
    put_entries(model_feedback_field_derivatives_rows, model_feedback_field_derivatives_columns, result,
        MODEL_FEEDBACK_FIELD_DERIVATIVES);
#endif
    memset(system.u, 0, sizeof system.u);
    for (method = 0; method < 3; ++method) {
        for (kind = 0; kind < 3; ++kind) {
            int (*const steps[3])(model_run *, real *, real, real) = { model_step_euler, model_step_heun, model_step_rk4 };
            memcpy(x, at, sizeof x);
            if (kind == 0) {
                model_begin_plain(&run, &system, x);
            } else if (kind == 1) {
                model_begin_feedback(&run, &system, x, k);
            } else {
                model_begin_projected(&run, &system, x);
            }
            for (step = 1; step <= settings[1]; ++step) {
                double left_out = steps[method](&run, x, settings[0], settings[2] + step * settings[0]);
                put(&left_out, 1);
                put(x, n);
            }
        }
    }
    return 0;
}
