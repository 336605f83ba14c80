/* A problem of optimal control that acados solves with the exported functions of a point in a well: prints its inputs. */
#include <stdio.h>
#include <stdlib.h>

#include "acados_c/external_function_interface.h"
#include "acados_c/ocp_nlp_interface.h"

enum { N = 20, STATES = 4, INPUTS = 1, OUTPUTS = STATES + INPUTS, PARAMETERS = 2 };

int expl_vde_forw(const double **, double **, int *, double *, void *);
int expl_vde_forw_work(int *, int *, int *, int *);
const int *expl_vde_forw_sparsity_in(int), *expl_vde_forw_sparsity_out(int);
int expl_vde_forw_n_in(void), expl_vde_forw_n_out(void);

static void set_sizes(ocp_nlp_config *config, ocp_nlp_dims *dims)
{
    int states[N + 1], inputs[N + 1], none[N + 1] = { 0 }, outputs, fixed, i;
    for (i = 0; i <= N; ++i) {
        states[i] = STATES;
        inputs[i] = i < N ? INPUTS : 0;
    }
    ocp_nlp_dims_set_opt_vars(config, dims, "nx", states);
    ocp_nlp_dims_set_opt_vars(config, dims, "nu", inputs);
    ocp_nlp_dims_set_opt_vars(config, dims, "nz", none);
    ocp_nlp_dims_set_opt_vars(config, dims, "ns", none);
    for (i = 0; i <= N; ++i) {
        outputs = i < N ? OUTPUTS : STATES;
        fixed = i == 0 ? STATES : 0;
        ocp_nlp_dims_set_cost(config, dims, i, "ny", &outputs);
        ocp_nlp_dims_set_constraints(config, dims, i, "nbx", &fixed);
    }
}

/* The sum of 10 (q - 1)^2 + p^2 + u^2 / 10, and at the end of the first two. */
static void set_cost(ocp_nlp_config *config, ocp_nlp_dims *dims, ocp_nlp_in *in)
{
    const double weights[OUTPUTS] = { 20, 2, 0, 0, 0.2 };
    int i, j;
    for (i = 0; i <= N; ++i) {
        const int outputs = i < N ? OUTPUTS : STATES;
        double by_state[OUTPUTS * STATES] = { 0 }, by_input[OUTPUTS] = { 0, 0, 0, 0, 1 }, weight[OUTPUTS * OUTPUTS] = { 0 };
        double reference[OUTPUTS] = { 1 };
        for (j = 0; j < outputs; ++j) {
            weight[j * outputs + j] = weights[j];
            if (j < STATES) {
                by_state[j * outputs + j] = 1;
            }
        }
        ocp_nlp_cost_model_set(config, dims, in, i, "Vx", by_state);
        if (i < N) {
            ocp_nlp_cost_model_set(config, dims, in, i, "Vu", by_input);
        }
        ocp_nlp_cost_model_set(config, dims, in, i, "W", weight);
        ocp_nlp_cost_model_set(config, dims, in, i, "yref", reference);
    }
}

int main(void)
{
    ocp_nlp_plan_t *const plan = ocp_nlp_plan_create(N);
    external_function_param_casadi functions[N];
    external_function_opts how;
    double start[STATES] = { 0 }, parameters[PARAMETERS] = { 1.5, 2 }, step = 0.1, scale = 1, tolerance = 1e-10;
    int fixed[STATES] = { 0, 1, 2, 3 }, one = 1, stages = 4, most = 100, silent = 0, i, status;
    plan->nlp_solver = SQP;
    plan->ocp_qp_solver_plan.qp_solver = PARTIAL_CONDENSING_HPIPM;
    for (i = 0; i <= N; ++i) {
        plan->nlp_cost[i] = LINEAR_LS;
        plan->nlp_constraints[i] = BGH;
    }
    for (i = 0; i < N; ++i) {
        plan->nlp_dynamics[i] = CONTINUOUS_MODEL;
        plan->sim_solver_plan[i].sim_solver = ERK;
    }
    ocp_nlp_config *const config = ocp_nlp_config_create(*plan);
    ocp_nlp_dims *const dims = ocp_nlp_dims_create(config);
    set_sizes(config, dims);
    external_function_opts_set_to_default(&how);
    ocp_nlp_in *const in = ocp_nlp_in_create(config, dims);
    ocp_nlp_out *const out = ocp_nlp_out_create(config, dims);
    for (i = 0; i < N; ++i) {
        external_function_param_casadi *const function = &functions[i];
        function->casadi_fun = expl_vde_forw;
        function->casadi_work = expl_vde_forw_work;
        function->casadi_sparsity_in = expl_vde_forw_sparsity_in;
        function->casadi_sparsity_out = expl_vde_forw_sparsity_out;
        function->casadi_n_in = expl_vde_forw_n_in;
        function->casadi_n_out = expl_vde_forw_n_out;
        external_function_param_casadi_create(function, PARAMETERS, &how);
        function->set_param(function, parameters);
        ocp_nlp_in_set(config, dims, in, i, "Ts", &step);
        ocp_nlp_dynamics_model_set(config, dims, in, i, "expl_vde_forw", function);
    }
    set_cost(config, dims, in);
    for (i = 0; i <= N; ++i) {
        ocp_nlp_cost_model_set(config, dims, in, i, "scaling", &scale);
    }
    ocp_nlp_constraints_model_set(config, dims, in, out, 0, "idxbx", fixed);
    ocp_nlp_constraints_model_set(config, dims, in, out, 0, "lbx", start);
    ocp_nlp_constraints_model_set(config, dims, in, out, 0, "ubx", start);
    void *const options = ocp_nlp_solver_opts_create(config, dims);
    for (i = 0; i < N; ++i) {
        ocp_nlp_solver_opts_set_at_stage(config, options, i, "dynamics_num_steps", &one);
        ocp_nlp_solver_opts_set_at_stage(config, options, i, "dynamics_ns", &stages);
    }
    ocp_nlp_solver_opts_set(config, options, "max_iter", &most);
    ocp_nlp_solver_opts_set(config, options, "print_level", &silent);
    ocp_nlp_solver_opts_set(config, options, "tol_stat", &tolerance);
    ocp_nlp_solver_opts_set(config, options, "tol_eq", &tolerance);
    ocp_nlp_solver *const solver = ocp_nlp_solver_create(config, dims, options, in);
    ocp_nlp_precompute(solver, in, out);
    status = ocp_nlp_solve(solver, in, out);
    for (i = 0; i < N; ++i) {
        double u;
        ocp_nlp_out_get(config, dims, out, i, "u", &u);
        printf("%.17g\n", u);
    }
    return status;
}
