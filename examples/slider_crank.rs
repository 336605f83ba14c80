// A slider-crank as a text: no crate, no compiler. Run it and look at it:
//
//     fbint run slider_crank.rs --until 10 --plot slider_crank.svg --animate slider_crank.html
//
// The pin starts upwards at 2 m/s, and the rod drives the slider. How long does the first half turn take?
//
//     fbint run slider_crank.rs --until-event 'pin[1] < 0'

/// A crank with a heavy pin, a light rod and a slider on a horizontal rail.
#[feedback_system(
    coordinates(pin: [2], slider),
    velocities(v: [2], u),
    lagrangian = m * v.norm_squared() / 2 + piston * u.powi(2) / 2 - m * g * pin[1],
    constraint(
        crank = pin.norm_squared() - r.powi(2),
        rod = (pin - vector![slider, 0]).norm_squared() - l.powi(2),
    ),
    output(force_in_rod = -2 * l * multiplier(rod)),
    draw(
        rod(vector![0, 0], pin, vector![slider, 0]),
        pivot(vector![0, 0]),
        point(vector![slider, 0]),
        trace(pin),
    ),
    film(centre = vector![r + l / 2, 0], range = r + l),
    default(m = 0.5, piston = 1, g = 9.81, r = 0.1, l = 0.3),
    start(pin = vector![r, 0], slider = r + l, v = vector![0, 2], u = 0),
)]
pub struct SliderCrank {
    pub m: f64,
    pub piston: f64,
    pub g: f64,
    pub r: f64,
    pub l: f64,
}
