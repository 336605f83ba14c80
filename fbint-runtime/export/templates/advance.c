
/* The method of Dormand and Prince of order 8(5, 3), by the coefficients of DOP853. */
static const real model_a[13][12] = {
    { 0 },
    { R(0.0526001519587677318785587544488) },
    { R(0.0197250569845378994544595329183), R(0.0591751709536136983633785987549) },
    { R(0.0295875854768068491816892993775), 0, R(0.0887627564304205475450678981324) },
    { R(0.241365134159266685502369798665), 0, R(-0.884549479328286085344864962717), R(0.924834003261792003115737966543) },
    { R(0.037037037037037037037037037037), 0, 0, R(0.170828608729473871279604482173), R(0.125467687566822425016691814123) },
    { R(0.037109375), 0, 0, R(0.170252211019544039314978060272), R(0.0602165389804559606850219397283), R(-0.017578125) },
    {
        R(0.0370920001185047927108779319836), 0, 0, R(0.170383925712239993810214054705), R(0.107262030446373284651809199168),
        R(-0.0153194377486244017527936158236), R(0.00827378916381402288758473766002)
    },
    {
        R(0.624110958716075717114429577812), 0, 0, R(-3.36089262944694129406857109825), R(-0.868219346841726006818189891453),
        R(27.5920996994467083049415600797), R(20.1540675504778934086186788979), R(-43.4898841810699588477366255144)
    },
    {
        R(0.477662536438264365890433908527), 0, 0, R(-2.48811461997166764192642586468), R(-0.590290826836842996371446475743),
        R(21.2300514481811942347288949897), R(15.2792336328824235832596922938), R(-33.2882109689848629194453265587),
        R(-0.0203312017085086261358222928593)
    },
    {
        R(-0.93714243008598732571704021658), 0, 0, R(5.18637242884406370830023853209), R(1.09143734899672957818500254654),
        R(-8.14978701074692612513997267357), R(-18.5200656599969598641566180701), R(22.7394870993505042818970056734),
        R(2.49360555267965238987089396762), R(-3.0467644718982195003823669022)
    },
    {
        R(2.27331014751653820792359768449), 0, 0, R(-10.5344954667372501984066689879), R(-2.00087205822486249909675718444),
        R(-17.9589318631187989172765950534), R(27.9488845294199600508499808837), R(-2.85899827713502369474065508674),
        R(-8.87285693353062954433549289258), R(12.3605671757943030647266201528), R(0.643392746015763530355970484046)
    },
    {
        R(0.0542937341165687622380535766363), 0, 0, 0, 0, R(4.45031289275240888144113950566),
        R(1.89151789931450038304281599044), R(-5.8012039600105847814672114227), R(0.31116436695781989440891606237),
        R(-0.152160949662516078556178806805), R(0.201365400804030348374776537501), R(0.0447106157277725905176885569043)
    },
};
static const real model_fifth[13] = {
    R(0.01312004499419488073250102996), 0, 0, 0, 0, R(-1.225156446376204440720569753), R(-0.4957589496572501915214079952),
    R(1.664377182454986536961530415), R(-0.350328848749973681688648729), R(0.3341791187130174790297318841),
    R(0.08192320648511571246570742613), R(-0.02235530786388629525884427845)
};
/* Less the weights of the embedded method of order 3. */
static const real model_third[12] = {
    R(0.0542937341165687622380535766363 - 0.244094488188976377952755905512), 0, 0, 0, 0, R(4.45031289275240888144113950566),
    R(1.89151789931450038304281599044), R(-5.8012039600105847814672114227),
    R(0.31116436695781989440891606237 - 0.733846688281611857341361741547), R(-0.152160949662516078556178806805),
    R(0.201365400804030348374776537501), R(0.0447106157277725905176885569043 - 0.0220588235294117647058823529412)
};

/* x + h sum_j a_j k_j */
static void model_combined(real *result, const real *x, real h, const real *a, real (*k)[@state_room@])
{
    int i, j;
    for (i = 0; i < MODEL_STATES; ++i) {
        real sum = R(-0.0);
        for (j = 0; j < 12; ++j) {
            sum = a[j] != R(0.0) ? FBINT_FMA(h * a[j], k[j][i], sum) : sum;
        }
        result[i] = x[i] + sum;
    }
}

/* The error of a step in units of the tolerance times the size of each variable; sizes fade by a quarter a step. */
static real model_error_of(model_run *run, const real *x, const real *end, real h, real (*k)[@state_room@])
{
    const real zero[@state_room@] = { R(0.0) };
    real fifth[@state_room@], third[@state_room@], moved[@state_room@], squares[2] = { R(0.0), R(0.0) };
    int i;
    model_combined(fifth, zero, h, model_fifth, k);
    model_combined(third, zero, h, model_third, k);
    for (i = 0; i < MODEL_STATES; ++i) {
        moved[i] = h * k[0][i];
    }
    for (i = 0; i < MODEL_STATES; ++i) {
        real size = model_larger(model_size_of_variable(x, i), model_size_of_variable(end, i));
        size = model_larger(model_larger(size, model_size_of_variable(moved, i)), R(0.75) * run->sizes[i]);
        run->sizes[i] = size;
        if (size > R(0.0) && model_role[i] == 0) {
            fifth[i] /= run->tolerance * size;
            third[i] /= run->tolerance * size;
            squares[0] += fifth[i] * fifth[i];
            squares[1] += third[i] * third[i];
        }
    }
    squares[1] = squares[0] + R(0.01) * squares[1];
    return squares[1] > R(0.0) ? squares[0] / FBINT_SQRT(squares[1] * (real)MODEL_STATES) : squares[1];
}

int model_step_dop853(model_run *run, real *x, real h, real time)
{
    real k[12][@state_room@], start[@state_room@], end[@state_room@], squares[@state_room@];
    int stage;
    memcpy(start, x, sizeof start);
    model_rates(run, x, k[0]);
    for (stage = 1; stage < 12; ++stage) {
        model_combined(end, start, h, model_a[stage], k);
        model_rates(run, end, k[stage]);
    }
    model_combined(end, start, h, model_a[12], k);
    model_set_clock(end, time);
    run->error = run->tolerance > R(0.0) ? model_error_of(run, start, end, h, k) : R(0.0);
    memcpy(x, end, sizeof end);
    if (!run->is_projected) {
        return 0;
    }
    model_squares(run, model_fifth, 12, k, end, h, squares);
    run->has_derivative = 0;
    return model_settle(run, squares, squares, end, h, x);
}

int model_onto_constraints(const model_system *system, real *x)
{
    const real targets[@integral_room@] = { R(0.0) };
    real variances[@state_room@], noise[@integral_room@], found[@integral_room@], correction[@state_room@];
    real furthest = R(0.0), last = FBINT_UNBOUNDED;
    int i, count;
    model_noise_of_integrals(system, x, targets, noise);
    for (i = 0; i < MODEL_STATES; ++i) {
        variances[i] = R(1.0);
    }
    for (i = 0; i < MODEL_INTEGRALS; ++i) {
        noise[i] = model_is_constraint[i] ? noise[i] : FBINT_UNBOUNDED;
    }
    for (count = 0; count < 50; ++count) {
        model_projection(system, x, variances, noise, targets, found, correction);
        furthest = R(0.0);
        for (i = 0; i < MODEL_INTEGRALS; ++i) {
            const real distance = found[i] * found[i] / noise[i];
            furthest = model_is_constraint[i] && !(distance <= furthest) ? distance : furthest;
        }
        if (furthest <= R(64.0) || !(furthest < last || furthest > FBINT_ROUNDING)) {
            break;
        }
        last = furthest;
        for (i = 0; i < MODEL_STATES; ++i) {
            x[i] -= model_role[i] == 0 ? correction[i] : R(0.0);
        }
    }
    return furthest <= FBINT_ROUNDING ? 0 : 1;
}

static int model_is_defined(const real *x)
{
    int i, all = 1;
    for (i = 0; i < MODEL_STATES; ++i) {
        all &= model_is_finite(x[i]);
    }
    return all;
}

#if @watched@
/* A step whose end may be moved forward to an event. */
typedef struct model_span {
    const model_run *begun;
    const real *start;
    model_stepper *step;
    real from, h, resolution;
} model_span;

static void model_state_within(const model_span *span, real h, model_run *run, real *x)
{
    *run = *span->begun;
    memcpy(x, span->start, MODEL_STATES * sizeof *x);
    run->has_left_out += span->step(run, x, h, span->from + h);
    model_follow_laws(&run->system, x);
}

static real model_value_within(const model_span *span, int event, real h)
{
    model_run run;
    real x[@state_room@], values[@watched@];
    model_state_within(span, h, &run, x);
    model_watch(&run, x, values);
    return values[event];
}

/* Whether an event function has passed 0 in the direction that counts; the functions of switches fall. */
static int model_passes(int event, real before, real after)
{
    int direction = -1;
#if @events@
    direction = event < MODEL_EVENTS ? model_event_direction[event] : direction;
#else
    (void)event;
#endif
    return (direction >= 0 && before < R(0.0) && after >= R(0.0)) || (direction <= 0 && before > R(0.0) && after <= R(0.0));
}

/* Whether the function of a switch is on the side that is not held. */
static int model_is_beyond(const model_run *run, int event, real value)
{
#if @switches@
    return run->has_sides && event >= MODEL_EVENTS && value < R(0.0);
#else
    (void)run, (void)event, (void)value;
    return 0;
#endif
}

/* Whether the condition of an event holds. */
static int model_counts(const model_run *run, const real *x, int event)
{
#if @events@
    return event >= MODEL_EVENTS || model_event_counts(&run->system, x, event);
#else
    (void)run, (void)x, (void)event;
    return 1;
#endif
}

/* The first part of a step, which ends where an event function has passed 0 as it does from `low` to the end of the step: by the
 * Illinois method, and halving. */
static real model_located(const model_span *span, int event, real low, real before, real after)
{
    real high = span->h;
    int round, last = 0;
    for (round = 1; high - low > span->resolution && round < 200; ++round) {
        const real secant = low + (high - low) * (before / (before - after));
        const real h = round % 3 == 0 || !(secant > low && secant < high) ? low + R(0.5) * (high - low) : secant;
        const real value = model_value_within(span, event, h);
        const int is_before = (value < R(0.0)) == (before < R(0.0)) && value != R(0.0);
        if (h <= low || h >= high) {
            break;
        }
        low = is_before ? h : low;
        high = is_before ? high : h;
        before = is_before ? value : last < 0 ? before * R(0.5) : before;
        after = is_before ? (last > 0 ? after * R(0.5) : after) : value;
        last = is_before ? 1 : -1;
    }
    return high;
}

/* A part of a step that begins at an event, after which the event function has left 0 for its side, and the value there; else 0. */
static real model_departure(const model_span *span, int event, real *value)
{
    real part = span->h;
    int count;
    for (count = 0; count < 30; ++count) {
        part *= R(0.5);
        *value = model_value_within(span, event, part);
        if (*value * span->begun->sides[event] > R(0.0)) {
            return part;
        }
    }
    return R(0.0);
}

/* Moves the end of a step forward to the first event in it; marks what occurs there. */
static void model_meet(model_run *run, model_span *span, real *x, int *met)
{
    real values[@watched@], at[@state_room@];
    model_run there;
    int event;
    model_watch(run, x, values);
    for (event = 0; event < @watched@; ++event) {
        real before = span->begun->sides[event], low = R(0.0), h = span->h;
        int passes = model_passes(event, before, values[event]);
        met[event] = 0;
        if (passes && span->begun->has_met[event]) {
            low = model_departure(span, event, &before);
            /* Else it rests at 0, or returns sooner than can be told. */
            passes = low > R(0.0);
#if @events@
            run->is_lost |= !passes && event < MODEL_EVENTS && model_resets(event);
#endif
        }
        if (!passes && !model_is_beyond(run, event, values[event])) {
            continue;
        }
        h = passes ? model_located(span, event, low, before, values[event]) : h;
#if @events@
        /* A section where the step begins, as at the reset of another event: its time is later, too. */
        h = passes && event < MODEL_EVENTS && !model_resets(event) ? model_larger(h, span->resolution) : h;
#endif
        model_state_within(span, h, &there, at);
        if (!model_counts(&there, at, event)) {
            continue;
        }
        if (h < span->h - span->resolution) {
            memset(met, 0, (size_t)event * sizeof *met);
            span->h = h;
            *run = there;
            memcpy(x, at, sizeof at);
            model_watch(run, x, values);
        }
        met[event] = 1;
    }
}

/* The event functions at x, and how they change along the field. */
static void model_trend(model_run *run, const real *x, real *values, real *changes)
{
    real rates[@state_room@], point[@state_room@];
    int event;
    model_rates(run, x, rates);
    model_add(point, x, FBINT_ROOT, rates);
    model_watch(run, point, changes);
    model_watch(run, x, values);
    for (event = 0; event < @watched@; ++event) {
        changes[event] -= values[event];
    }
}

/* Remembers on which side of 0 event functions are at x, or which they leave to. */
static void model_remember(model_run *run, const real *x, const int *met)
{
    real values[@watched@], changes[@watched@];
    int event, any = 0;
    for (event = 0; event < @watched@; ++event) {
        any |= met[event];
        changes[event] = R(0.0);
    }
    if (any) {
        model_trend(run, x, values, changes);
    } else {
        model_watch(run, x, values);
    }
    for (event = 0; event < @watched@; ++event) {
        /* A reset may have moved it away from 0. */
        const int is_away = event < MODEL_EVENTS && FBINT_FABS(values[event]) > FBINT_FABS(changes[event]);
        if (met[event] && !is_away) {
            run->has_met[event] = 1;
            run->sides[event] = event < MODEL_EVENTS ? changes[event] : R(1.0);
        } else if (met[event] || !run->has_met[event] || values[event] * run->sides[event] > R(0.0)) {
            run->has_met[event] = 0;
            run->sides[event] = values[event];
        }
    }
}

int model_notice_events(model_run *run, const real *x, int *met)
{
    real values[@watched@], changes[@watched@];
    int event, any = 0;
    model_trend(run, x, values, changes);
    for (event = 0; event < @watched@; ++event) {
        const real before = run->sides[event], after = values[event];
        const int is_leaving = run->has_met[event] && changes[event] * before >= R(0.0);
        const int is_passed = (model_passes(event, before, after) || model_is_beyond(run, event, after)) && !is_leaving;
        met[event] |= is_passed && model_counts(run, x, event);
        any |= met[event];
        if (is_passed || !run->has_met[event] || after * before > R(0.0)) {
            run->has_met[event] = 0;
            run->sides[event] = after;
        }
    }
    return any;
}

int model_take_events(model_run *run, real *x, real time, const int *met)
{
    int first = MODEL_NO_EVENT, is_reset = 0;
#if @events@
    int event;
    for (event = 0; event < MODEL_EVENTS; ++event) {
        if (met[event]) {
            first = first < 0 ? event : first;
            ++run->occurred[event];
            run->is_over |= run->occurred[event] == model_event_last[event];
            is_reset |= model_reset(&run->system, event, x);
        }
    }
    if (is_reset) {
        run->is_lost |= model_onto_constraints(&run->system, x);
        model_keep(run, x);
    }
#endif
#if @switches@
    if (run->has_sides && is_reset) {
        model_hold_sides(run, x, time);
    } else if (run->has_sides) {
        model_change_sides(run, x, time, met + MODEL_EVENTS);
    }
#endif
    (void)time, (void)is_reset;
    model_remember(run, x, met);
    return first;
}
#endif

int model_advance(model_run *run, model_stepper *step, real *x, real *time, real h, real end)
{
    model_run begun;
    real start[@state_room@], next = end;
    int event = MODEL_NO_EVENT;
#if @sampled@
    if (!(run->system.period > R(0.0))) {
        return MODEL_FAILED;
    }
    (void)model_sample_laws(run, x, *time);
    if (run->samples.next < end - FBINT_DUE * run->system.period) {
        end = run->samples.next;
        next = end;
        h = end - *time;
    }
#endif
#if @switches@
    if (run->has_sides) {
        const int met[MODEL_SWITCHES] = { 0 };
        model_change_sides(run, x, *time, met);
    } else {
        model_hold_sides(run, x, *time);
    }
#endif
    begun = *run;
    memcpy(start, x, sizeof start);
    for (;;) {
        if (run->tolerance > R(0.0) && run->size > R(0.0) && run->size < h) {
            h = run->size;
            next = *time + h;
        }
        run->has_left_out += step(run, x, h, next);
        if (model_is_defined(x) && !(run->error > R(1.0))) {
            break;
        }
        if (!(run->tolerance > R(0.0)) || !(*time + R(0.1) * h > *time)) {
            return MODEL_FAILED;
        }
        {
            const real factor = run->error > R(1.0) && model_is_finite(run->error)
                ? R(0.9) / FBINT_SQRT(FBINT_SQRT(FBINT_SQRT(run->error))) : R(0.1);
            *run = begun;
            run->size = h * model_larger(factor, R(0.1));
            memcpy(x, start, sizeof start);
        }
    }
    if (run->tolerance > R(0.0)) {
        const real root = FBINT_SQRT(FBINT_SQRT(FBINT_SQRT(run->error)));
        const real growth = root > R(0.15) ? R(0.9) / root : R(6.0);
        /* The rest of a stretch says nothing about the next step. */
        run->size = next < end || growth < R(1.0) || h * growth > run->size ? h * growth : run->size;
    }
#if @watched@
    {
        int met[@watched@];
        model_span span = { &begun, start, step, *time, h, R(0.0) };
        span.resolution = R(4.0) * FBINT_EPSILON * (model_size(*time) + h);
        model_meet(run, &span, x, met);
        next = span.h < h ? *time + span.h : next;
        event = model_take_events(run, x, next, met);
        if (run->is_lost || (span.h < h && !(next > *time))) {
            return MODEL_FAILED;
        }
    }
#endif
    *time = next;
    return event;
}
