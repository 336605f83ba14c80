//! Every message of the first two phases about driven systems: forces, the time, inputs.

use super::common;

/// The declaration, and every message: the source text at fault and what is said.
type Case = (&'static str, &'static [(&'static str, &'static str)]);

#[test]
fn each_mistake_has_its_message() {
    for (attribute, expected) in MISTAKES {
        let expected: Vec<common::Message> =
            expected.iter().map(|(culprit, message)| (message.to_string(), culprit.to_string())).collect();
        let (_, model, messages) = common::read(attribute, "struct S {}");
        assert_eq!(messages, expected, "{attribute}");
        assert!(model.is_none(), "{attribute}");
    }
}

#[test]
fn what_is_no_mistake_has_none() {
    for attribute in SOUND {
        let (_, model, messages) = common::read(attribute, "struct S {}");
        assert_eq!(messages, [], "{attribute}");
        assert!(model.is_some(), "{attribute}");
    }
}

#[rustfmt::skip]
const MISTAKES: &[Case] = &[
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force(x = -p)",
        &[("x",
            "`x` is not a momentum\nhelp: write `p = ..`")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force(pp = -p)",
        &[("pp",
            "`pp` is not a momentum\nhelp: did you mean `p`?")]),
    ("coordinates(x, y), momenta(px, py), hamiltonian = px.powi(2) + py.powi(2) + x + y, force(torque = -px)",
        &[("torque",
            "`torque` is not a momentum; `force` is for `px`, `py`")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force(p = -p, p = -x)",
        &[("p",
            "`p` is given twice in `force`\nhelp: add the two")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force(p = vector![p, x])",
        &[("vector![p, x]",
            "the force along `p` is a vector of 2, and `p` is a scalar: they must have the same shape")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force(p[i in 0..2] = -p)",
        &[("[",
            "`force` gives all of `p` at once\nhelp: write `p = ..`")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force(p)",
        &[("p",
            "`force` needs a name for this: `force(p = expression)`")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force = -p",
        &[("=",
            "expected `(`: `force` takes a list, as in `force(p = expression)`")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force(assume p = -p)",
        &[("assume",
            "`p` is not an integral, and only the conservation of integrals can be assumed\nhelp: remove `assume`")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force(p = -multiplier(a)), constraint(a = x)",
        &[("multiplier",
            "`multiplier` has a value only in an `output`: the multipliers follow from the equations that this expression is part of")]),
    ("coordinates(x), velocities(v), lagrangian = v.powi(2) / 2, force(x = -v)",
        &[("x",
            "`x` is not a velocity\nhelp: write `v = ..`")]),
    ("coordinates(x), velocities(v), lagrangian = v.powi(2) / 2, force(w = -v)",
        &[("w",
            "`w` is not a velocity; `force` is for `v`")]),
    ("state(x, y), dynamics(x = y, y = -x), force(x = 1)",
        &[("force",
            "a `force` acts along a momentum or a velocity, which a `state` does not have\nhelp: write it into `dynamics`")]),
    ("state(x, y), dynamics(x = y, y = -x), input(u)",
        &[("u",
            "nothing uses the input `u`\nhelp: let a force depend on it, or remove it")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2 + x, input(u)",
        &[("u",
            "nothing uses the input `u`\nhelp: let a force depend on it, or remove it")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2 + x, time(t)",
        &[("t",
            "nothing depends on the time `t`\nhelp: remove `time(t)`")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2 + x * s.sin(), time(s, t)",
        &[("t",
            "there is one time\nhelp: remove `t`")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2 + x * t[0].sin(), time(t: [2])",
        &[("t",
            "the time is a scalar\nhelp: write `time(t)`")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2 + x * t.sin(), time(t), time(s)",
        &[("time",
            "`time` is given twice\nhelp: keep one of the two")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2 + x * u, input(u)",
        &[("p.powi(2) / 2 + x * u",
            "the Hamiltonian contains the input `u`, whose rate is not known: inputs act by a `force`, or by `dynamics`")]),
    ("coordinates(x), velocities(v), lagrangian = v.powi(2) / 2 + x * u, input(u)",
        &[("v.powi(2) / 2 + x * u",
            "the Lagrangian contains the input `u`, whose rate is not known: inputs act by a `force`, or by `dynamics`")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, constraint(a = x - u), input(u)",
        &[("x - u",
            "`a` contains the input `u`, whose rate is not known: inputs act by a `force`, or by `dynamics`")]),
    ("coordinates(x, y), momenta(px, py), hamiltonian = px.powi(2) + py.powi(2), phase_constraint(a = x - u, b = px + y), input(u), force(px = u)",
        &[("x - u",
            "`a` contains the input `u`, whose rate is not known: inputs act by a `force`, or by `dynamics`")]),
    ("coordinates(x, y), velocities(v, w), lagrangian = v.powi(2) + w.powi(2), velocity_constraint(a = v - u * w), input(u), force(v = x + y)",
        &[("v - u * w",
            "`a` contains the input `u`, whose rate is not known: inputs act by a `force`, or by `dynamics`")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, invariant(a = x - u), input(u), force(p = u)",
        &[("x - u",
            "`a` contains the input `u`, whose rate is not known: inputs act by a `force`, or by `dynamics`")]),
    ("coordinates(x), velocities(v), kinematics(x = v * t), lagrangian = v.powi(2) / 2 + x, time(t)",
        &[("v * t",
            "the rate of `x` depends on the time: moving frames are not supported")]),
    ("coordinates(x), velocities(v), kinematics(x = v * u), lagrangian = v.powi(2) / 2 + x, input(u)",
        &[("v * u",
            "the rate of `x` contains the input `u`, whose rate is not known: inputs act by a `force`, or by `dynamics`")]),
    ("state(l: [3]), poisson = hat(l) * u, hamiltonian = l.norm_squared() + l[0], input(u)",
        &[("hat(l) * u",
            "the Poisson matrix contains the input `u`, whose rate is not known: inputs act by a `force`, or by `dynamics`")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force(p = work)",
        &[("work",
            "`work` is the work that is done on the system, an entry of its state on which nothing else depends")]),
    ("coordinates(x), momenta(work), hamiltonian = work.powi(2) / 2, force(work = -x)",
        &[("work",
            "`work` is already the work that is done on the system, an entry of its state\nhelp: choose another name")]),
    ("coordinates(x), momenta(time), hamiltonian = time.powi(2) / 2, input(u), force(time = u)",
        &[("time",
            "`time` is already the time, an entry of the state of systems with inputs\nhelp: choose another name")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force(p = -energy_balance)",
        &[("energy_balance",
            "`energy_balance` is the integral of `hamiltonian`, which has no value here\nhelp: name its expression with `define` and use that name in both places")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force(p = -x), output(energy_balance = x)",
        &[("energy_balance",
            "`energy_balance` is already the integral that `hamiltonian` adds, which need not be declared\nhelp: choose another name")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, friction(p = -x)",
        &[("friction",
            "there is no key `friction`\nhelp: write `force(p = ..)` along a momentum, or `force(v = ..)` along a velocity")]),
    ("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, controls(u)",
        &[("controls",
            "there is no key `controls`\nhelp: write `input(u)`")]),
    ("coordinates(x), velocities(v), lagrangian = v.powi(2) / 2 - x * t, tim(t)",
        &[("tim",
            "unknown key `tim`\nhelp: did you mean `time`?")]),
];

#[rustfmt::skip]
const SOUND: &[&str] = &[
    "coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force(p = -rate(x) + x), output(energy = p.powi(2) / 2)",
    "coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, force(p = u * t), input(u), time(t)",
    "coordinates(x, y), momenta(px, py), hamiltonian = px.powi(2) + py.powi(2), constraint(a = x - t.sin()), time(t), force(py = 0)",
    "state(x, y), dynamics(x = y + t, y = -x * u), input(u), time(t)",
    "state(time, y), dynamics(time = y + 1, y = -time), invariant(assume a = y)",
    "coordinates(x, y), velocities(v, w), lagrangian = v.powi(2) + w.powi(2) + t * v * w / 9, velocity_constraint(a = w), force(w = v), time(t)",
];
