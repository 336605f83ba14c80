
/* The rates of a system, with the inputs that follow laws as they are at x. */
static void model_rates_of(const model_run *run, model_system *system, const real *x, real *rates)
{
    model_follow_laws(system, x);
    if (run->has_feedback) {
        model_feedback_field(system, x, run->gains, run->gain_targets, rates);
    } else {
        model_vector_field(system, x, rates);
    }
}

#if @switches@
/* How fast the functions of the switches change where x changes at these rates. */
static void model_changes(const model_system *given, const real *x, const real *rates, real *changes)
{
    model_system system = *given;
    model_direction direction;
    memset(&direction, 0, sizeof direction);
    memcpy(direction.x, rates, MODEL_STATES * sizeof *rates);
    model_follow_laws(&system, x);
#if @followed@
    {
        int i;
        model_law_changes(&system, x, &direction, direction.u);
        for (i = 0; i < MODEL_INPUTS; ++i) {
            direction.u[i] = system.is_given[i] ? R(0.0) : direction.u[i];
        }
    }
#endif
    model_switch_changes(&system, x, &direction, changes);
}

/* The weights by the first `count` of some equations. Weights that are left open are 1/2; where none solve them, they are no numbers. */
static void model_solve(real (*matrix)[MODEL_SWITCHES + 1], int count, real *weights)
{
    int places[MODEL_SWITCHES], rank, row, column, i;
    real largest = R(0.0), of_rest = R(0.5);
    for (row = 0; row < count; ++row) {
        places[row] = row;
        for (column = 0; column < count; ++column) {
            largest = model_larger(model_size(matrix[row][column]), largest);
        }
    }
    for (rank = 0; rank < count; ++rank) {
        int pivot_row = rank, pivot_column = rank;
        for (row = rank; row < count; ++row) {
            for (column = rank; column < count; ++column) {
                if (model_size(matrix[row][column]) >= model_size(matrix[pivot_row][pivot_column])) {
                    pivot_row = row;
                    pivot_column = column;
                }
            }
        }
        /* What is left is rounding. */
        if (!(model_size(matrix[pivot_row][pivot_column]) > R(1e-10) * largest)) {
            break;
        }
        for (i = 0; i <= count; ++i) {
            const real entry = matrix[rank][i];
            matrix[rank][i] = matrix[pivot_row][i];
            matrix[pivot_row][i] = entry;
        }
        for (row = 0; row < count; ++row) {
            const real entry = matrix[row][rank];
            matrix[row][rank] = matrix[row][pivot_column];
            matrix[row][pivot_column] = entry;
        }
        i = places[rank];
        places[rank] = places[pivot_column];
        places[pivot_column] = i;
        for (row = 0; row < count; ++row) {
            const real factor = matrix[row][rank] / matrix[rank][rank];
            for (i = rank; row != rank && i <= count; ++i) {
                matrix[row][i] -= factor * matrix[rank][i];
            }
        }
    }
    for (row = rank; row < count; ++row) {
        of_rest = model_size(matrix[row][count]) <= R(1e-10) * largest ? of_rest : R(NAN);
    }
    for (row = 0; row < count; ++row) {
        real open = R(0.0);
        for (i = rank; i < count; ++i) {
            open += matrix[row][i];
        }
        weights[places[row]] = row < rank ? (matrix[row][count] - of_rest * open) / matrix[row][row] : of_rest;
    }
}

/* The rates where the motion slides along switches: the mean of the rates on both sides of each, with the weights for which their functions
 * stay 0. Puts the weight of the positive side of each into `weights`; returns whether the motion slides. */
static int model_slide(const model_run *run, const real *x, real *rates, real *weights)
{
    real matrix[MODEL_SWITCHES][MODEL_SWITCHES + 1], jumps[MODEL_SWITCHES][@state_room@], changes[MODEL_SWITCHES];
    real of_places[MODEL_SWITCHES];
    int places[MODEL_SWITCHES], count = 0, row, column, i;
    model_system below = run->system;
    for (i = 0; i < MODEL_SWITCHES; ++i) {
        if (run->held[i] == FBINT_SLIDING) {
            below.side[i] = -R(INFINITY);
            places[count++] = i;
        }
    }
    if (count == 0) {
        return 0;
    }
    model_rates_of(run, &below, x, rates);
    model_changes(&below, x, rates, changes);
    for (row = 0; row < count; ++row) {
        matrix[row][count] = -changes[places[row]];
    }
    for (column = 0; column < count; ++column) {
        model_system above = below;
        above.side[places[column]] = R(INFINITY);
        model_rates_of(run, &above, x, jumps[column]);
        for (i = 0; i < MODEL_STATES; ++i) {
            jumps[column][i] -= rates[i];
        }
        model_changes(&below, x, jumps[column], changes);
        for (row = 0; row < count; ++row) {
            matrix[row][column] = changes[places[row]];
        }
    }
    model_solve(matrix, count, of_places);
    for (column = 0; column < count; ++column) {
        weights[places[column]] = of_places[column];
    }
    for (i = 0; i < MODEL_STATES; ++i) {
        real largest = model_size(rates[i]);
        for (column = 0; column < count; ++column) {
            const real term = of_places[column] * jumps[column][i];
            rates[i] += term;
            largest = model_larger(model_size(term), largest);
        }
        /* The rounding of a cancellation: a body at rest has no rate. */
        rates[i] = model_size(rates[i]) < R(64.0) * FBINT_EPSILON * largest ? R(0.0) : rates[i];
    }
    return 1;
}
#endif

void model_rates(model_run *run, const real *x, real *rates)
{
#if @switches@
    real weights[MODEL_SWITCHES];
    if (model_slide(run, x, rates, weights)) {
        return;
    }
#endif
    model_rates_of(run, &run->system, x, rates);
}

#if @switches@
/* Holds a switch on a side. */
static void model_hold_side(model_run *run, int place, int side)
{
    run->held[place] = side;
    run->system.side[place] = side == 1 ? R(INFINITY) : side == -1 ? -R(INFINITY) : R(0.0);
}

/* The functions of the switches; where the motion slides, one that is positive for as long as it does. */
static void model_switch_values(model_run *run, const real *x, real *values)
{
    real rates[@state_room@], weights[MODEL_SWITCHES];
    int i, slides;
    model_follow_laws(&run->system, x);
    model_switches(&run->system, x, values);
    slides = model_slide(run, x, rates, weights);
    for (i = 0; slides && i < MODEL_SWITCHES; ++i) {
        values[i] = run->held[i] == FBINT_SLIDING ? weights[i] * (R(1.0) - weights[i]) : values[i];
    }
}

static int model_sign(real value)
{
    return (value > R(0.0)) - (value < R(0.0));
}

/* The value of a switch with the sign by which it is positive on a side. One that was 0 is to stay 0. */
static real model_held(int side, real value)
{
    return side == 0 ? -model_size(value) : side == -1 ? -value : value;
}

/* The side of a switch on which a run goes on, where its function has this value, which may be rounding: one that leads away from 0, or
 * between both, where both lead back. */
static int model_side(model_run *run, const real *x, real time, int place, real value)
{
    real rates[2][@state_room@], changes[MODEL_SWITCHES], slopes[2];
    const int own = run->held[place];
    int i, jumps = 0;
    for (i = 0; i < 2; ++i) {
        model_hold_side(run, place, 1 - 2 * i);
        model_rates(run, x, rates[i]);
        model_changes(&run->system, x, rates[i], changes);
        slopes[i] = changes[place];
    }
    model_hold_side(run, place, own);
    for (i = 0; i < MODEL_STATES; ++i) {
        const real a = rates[0][i], b = rates[1][i];
        jumps |= model_size(a - b) > FBINT_JUMP * (model_size(a) + model_size(b));
    }
    if (own == FBINT_SLIDING) {
        return model_size(slopes[0]) < model_size(slopes[1]) ? 1 : -1;
    }
    if (model_size(value) > FBINT_MET * model_size(time) * (model_size(slopes[0]) + model_size(slopes[1]))
        || (slopes[0] == R(0.0) && slopes[1] == R(0.0))) {
        return model_sign(value);
    }
    return !jumps ? model_sign(slopes[0] + slopes[1])
        : slopes[0] > R(0.0) && slopes[1] > R(0.0) ? 1
        : slopes[0] < R(0.0) && slopes[1] < R(0.0) ? -1
        : slopes[0] <= R(0.0) && slopes[1] >= R(0.0) ? FBINT_SLIDING
        : own == 1 ? -1 : 1;
}

/* Chooses the sides of the switches that are open, and of those whose functions are then on the other side. */
static void model_choose_sides(model_run *run, const real *x, real time, int *open)
{
    real values[MODEL_SWITCHES];
    int is_decided[MODEL_SWITCHES] = { 0 }, i, any = 1;
    model_switch_values(run, x, values);
    while (any) {
        for (i = 0; i < MODEL_SWITCHES; ++i) {
            if (open[i]) {
                model_hold_side(run, i, model_side(run, x, time, i, values[i]));
                is_decided[i] = 1;
            }
        }
        model_switch_values(run, x, values);
        for (i = 0, any = 0; i < MODEL_SWITCHES; ++i) {
            open[i] = !is_decided[i] && model_held(run->held[i], values[i]) < R(0.0);
            any |= open[i];
        }
    }
}

void model_hold_sides(model_run *run, const real *x, real time)
{
    real values[MODEL_SWITCHES];
    int open[MODEL_SWITCHES], i;
    for (i = 0; i < MODEL_SWITCHES; ++i) {
        model_hold_side(run, i, 0);
    }
    model_switch_values(run, x, values);
    for (i = 0; i < MODEL_SWITCHES; ++i) {
        model_hold_side(run, i, model_sign(values[i]));
        open[i] = values[i] == R(0.0);
        run->has_met[MODEL_EVENTS + i] = open[i];
        run->sides[MODEL_EVENTS + i] = open[i] ? R(1.0) : model_size(values[i]);
    }
    model_choose_sides(run, x, time, open);
    run->has_sides = 1;
}

/* Changes the sides of switches that were met at a state, and of those that inputs have moved to the other side. */
static void model_change_sides(model_run *run, const real *x, real time, const int *met)
{
    real values[MODEL_SWITCHES];
    int open[MODEL_SWITCHES], i, any = 0;
    model_switch_values(run, x, values);
    for (i = 0; i < MODEL_SWITCHES; ++i) {
        const int is_beyond = !run->has_met[MODEL_EVENTS + i] && model_held(run->held[i], values[i]) < R(0.0);
        open[i] = met[i] || is_beyond;
        any |= open[i];
        if (met[i]) {
            run->meetings[i] = time - run->met_at[i] <= FBINT_ROOT * model_size(time) ? run->meetings[i] + 1 : 0;
            run->is_lost |= run->meetings[i] > 8;
            run->met_at[i] = time;
        }
    }
    if (any) {
        model_restart(run);
        model_choose_sides(run, x, time, open);
    }
}
#endif

#if @watched@
void model_watch(model_run *run, const real *x, real *values)
{
#if @events@
    model_follow_laws(&run->system, x);
    model_events(&run->system, x, values);
#endif
#if @switches@
    {
        int i;
        model_switch_values(run, x, values + MODEL_EVENTS);
        for (i = 0; i < MODEL_SWITCHES; ++i) {
            values[MODEL_EVENTS + i] = model_held(run->held[i], values[MODEL_EVENTS + i]);
        }
    }
#endif
}
#endif
