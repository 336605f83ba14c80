//! Stroboscopic pictures of the mechanical models: poses at equal time steps that fade from light to dark over the path of
//! their masses, and one body in another colour that runs through the motion.
//!
//! Everything is drawn from one run by DOP853 without feedback. Both axes have one scale, which a bar shows. Moving parts are animated by
//! SMIL, so that a picture needs no script, and has the class `moving`, so that a page can hide it from readers who asked for less motion:
//! the poses show the motion, too. An SVG is 360 units wide and readable at 360 pixels.

use std::error::Error;
use std::fmt::Write as _;

use catalogue::load;
use fbint_command::catalogue::{Feedback, Plan, Sample};
use fbint_command::progress::Progress;
use fbint_command::results::Picture;
use fbint_runtime::{Method, Settings};
use models::FourBar;

const WIDTH: f64 = 360.0;
const MARGIN: f64 = 18.0;
/// Maximum height of the motion, without the lines of text below it.
const MAX_HEIGHT: f64 = 340.0;
const LINE_HEIGHT: f64 = 17.0;
/// The tolerance of DOP853, far below the width of a line.
const TOLERANCE: f64 = 1e-10;
/// Points of the path between two frames of the animation.
const POINTS_PER_FRAME: usize = 4;

const BLUE: &str = "#0072B2";
const GREEN: &str = "#009E73";
const PURPLE: &str = "#CC79A7";
const VERMILION: &str = "#D55E00";
const GREY: &str = "#767676";

type PlanePoint = [f64; 2];

/// Draws every mechanical model of the catalogue; the Euler top has no body to draw that the free rigid body has not.
pub(crate) fn pictures() -> Result<Vec<Picture>, Box<dyn Error>> {
    scenes().iter().map(picture).collect()
}

/// The picture of one model.
struct Scene {
    model: &'static str,
    caption: &'static str,
    /// The end of the motion.
    until: f64,
    /// The end of the poses, which may come earlier: an oscillation comes back over itself.
    posed_until: f64,
    poses: usize,
    frames: usize,
    /// Duration of one round of the animation, in seconds of real time.
    seconds: f64,
    bodies: Vec<Body>,
    backdrop: Backdrop,
    /// The unit of length. If it is m, times are in s.
    unit: &'static str,
}

/// A row of points joined by rods.
struct Body {
    colour: &'static str,
    /// The points of the body in a state.
    joints: fn(&[f64]) -> Vec<PlanePoint>,
    /// The points that are masses; the others are fixed pivots or are not drawn.
    masses: std::ops::Range<usize>,
    /// The masses that leave a path.
    traced: std::ops::Range<usize>,
}

/// The parts of a picture that do not move.
enum Backdrop {
    /// Fixed pivots.
    Pivots(Vec<PlanePoint>),
    /// The centre of attraction.
    Sun,
    /// The unit sphere, seen as everything in space is.
    Sphere,
}

fn scenes() -> Vec<Scene> {
    vec![
        Scene {
            model: "spherical-pendulum",
            caption: "Spherical pendulum, seen from 25 degrees above the horizon: two swings of its height as poses, four as \
                      path. The height comes back, the direction does not.",
            until: 14.1,
            posed_until: 7.05,
            poses: 30,
            frames: 282,
            seconds: 14.1,
            bodies: vec![Body {
                colour: BLUE,
                joints: |x| vec![[0.0, 0.0], seen([x[0], x[1], x[2]])],
                masses: 1..2,
                traced: 1..2,
            }],
            backdrop: Backdrop::Sphere,
            unit: "m",
        },
        Scene {
            model: "planar-pendulum",
            caption: "Planar pendulum, released at rest at the height of its pivot: half a period as poses.",
            until: 7.416_298_709_205_487_5,
            posed_until: 7.416_298_709_205_487_5 / 2.0,
            poses: 19,
            frames: 152,
            seconds: 7.4,
            bodies: vec![Body { colour: BLUE, joints: |x| vec![[0.0, 0.0], [x[0], x[1]]], masses: 1..2, traced: 1..2 }],
            backdrop: Backdrop::Pivots(vec![[0.0, 0.0]]),
            unit: "m",
        },
        Scene {
            model: "four-bar",
            caption: "Four-bar linkage, released at rest with the crank (left) at 10 degrees: half a period as poses, until \
                      the crank rests at −197.65 degrees and turns back.",
            until: 3.116_756_503_016_486,
            posed_until: 3.116_756_503_016_486 / 2.0,
            poses: 15,
            frames: 120,
            seconds: 6.2,
            bodies: vec![Body {
                colour: BLUE,
                joints: |x| vec![[0.0, 0.0], [x[0], x[1]], [x[2], x[3]], [FourBar::default().ln, 0.0]],
                masses: 1..3,
                traced: 1..3,
            }],
            backdrop: Backdrop::Pivots(vec![[0.0, 0.0], [FourBar::default().ln, 0.0]]),
            unit: "m",
        },
        chain("chain-4", "Chain of four masses, released at rest on a straight line: its first swing as poses.", 4),
        chain("chain-8", "Chain of eight masses, released at rest on a straight line: its first swing as poses.", 8),
        Scene {
            model: "free-rigid-body",
            caption: "Free rigid body, its three principal axes seen from 25 degrees above the horizon: a quarter of a period \
                      of the angular velocity as poses, one period as paths on the unit sphere. Blue is the axis of the \
                      largest moment of inertia, green the middle one, purple the smallest.",
            until: 6.422_703_084_225_693,
            posed_until: 6.422_703_084_225_693 / 4.0,
            poses: 9,
            frames: 192,
            seconds: 9.6,
            bodies: vec![
                Body { colour: BLUE, joints: |x| axis(x, 0), masses: 1..2, traced: 1..2 },
                Body { colour: GREEN, joints: |x| axis(x, 1), masses: 1..2, traced: 1..2 },
                Body { colour: PURPLE, joints: |x| axis(x, 2), masses: 1..2, traced: 1..2 },
            ],
            backdrop: Backdrop::Sphere,
            unit: "",
        },
        Scene {
            model: "kepler",
            caption: "Kepler's problem, eccentricity 0.6: one turn, the planet and its radius at equal times, which sweep \
                      equal areas.",
            until: std::f64::consts::TAU,
            posed_until: std::f64::consts::TAU,
            poses: 25,
            frames: 150,
            seconds: 7.5,
            bodies: vec![planet()],
            backdrop: Backdrop::Sun,
            unit: "units of length",
        },
        Scene {
            model: "perturbed-kepler",
            caption: "Perturbed Kepler problem: thirteen turns as path, and the planet with its radius each time it is nearest \
                      to the sun. From turn to turn the perihelion advances by 6.92 degrees.",
            until: 13.0 * 5.612_949_934_780_881,
            posed_until: 13.0 * 5.612_949_934_780_881,
            poses: 14,
            frames: 520,
            seconds: 39.0,
            bodies: vec![planet()],
            backdrop: Backdrop::Sun,
            unit: "units of length",
        },
    ]
}

fn chain(model: &'static str, caption: &'static str, links: usize) -> Scene {
    // The state begins with the positions, three entries for each mass; the chain swings in the plane of the first and third.
    fn joints<const LINKS: usize>(x: &[f64]) -> Vec<PlanePoint> {
        std::iter::once([0.0, 0.0]).chain((0..LINKS).map(|mass| [x[3 * mass], x[3 * mass + 2]])).collect()
    }
    // Half a period of the compound pendulum that a straight chain would be, nearly.
    let swing = 2.4 * (links as f64).sqrt();
    Scene {
        model,
        caption,
        until: 4.0 * swing,
        posed_until: swing,
        poses: 13,
        frames: 240,
        seconds: 4.0 * swing,
        bodies: vec![Body {
            colour: BLUE,
            joints: if links == 4 { joints::<4> } else { joints::<8> },
            masses: 1..links + 1,
            traced: links..links + 1,
        }],
        backdrop: Backdrop::Pivots(vec![[0.0, 0.0]]),
        unit: "m",
    }
}

fn planet() -> Body {
    Body { colour: BLUE, joints: |x| vec![[0.0, 0.0], [x[0], x[1]]], masses: 1..2, traced: 1..2 }
}

/// A body axis: a column of the attitude, from the centre.
fn axis(x: &[f64], column: usize) -> Vec<PlanePoint> {
    vec![[0.0, 0.0], seen([x[3 * column], x[3 * column + 1], x[3 * column + 2]])]
}

/// The orthographic view of a point in space, from an azimuth of -60 degrees and 25 degrees above the horizon.
fn seen([x, y, z]: [f64; 3]) -> PlanePoint {
    let ((sin, cos), (sin_up, cos_up)) = ((-60_f64).to_radians().sin_cos(), 25_f64.to_radians().sin_cos());
    [cos * y - sin * x, cos_up * z - sin_up * (cos * x + sin * y)]
}

fn picture(scene: &Scene) -> Result<Picture, Box<dyn Error>> {
    let samples = motion(scene)?;
    let page = Page::around(scene, &samples);
    let mut svg = page.opening(scene.caption);
    svg += &backdrop(&scene.backdrop, &page);
    for body in &scene.bodies {
        svg += &paths(body, &samples, &page);
    }
    svg += &poses(scene, &samples, &page);
    svg += &animation(scene, &samples, &page);
    svg += &page.scale_bar(scene.unit);
    svg += &page.times(scene);
    svg += "</svg>\n";
    Ok(Picture { name: format!("motion-{}", scene.model), caption: scene.caption.to_owned(), svg })
}

/// The states at equal time steps, [`POINTS_PER_FRAME`] for each frame.
fn motion(scene: &Scene) -> Result<Vec<Sample>, Box<dyn Error>> {
    let model = load(scene.model)?;
    let method = Method::Dop853 { rtol: TOLERANCE, atol: Some(TOLERANCE) };
    let every = Some(scene.until / (scene.frames * POINTS_PER_FRAME) as f64);
    let settings = Settings { every, ..Settings::new(method, scene.until) };
    let plan = Plan::new(settings, Feedback::None);
    let mut progress = Progress::new(scene.model);
    Ok(model.run(&model.start()?, &plan, None, &mut progress.observer())?.trajectory)
}

/// The state nearest to a time. Samples are at equal steps, except that rounding may cost the one before the end.
fn at(samples: &[Sample], time: f64, until: f64) -> &Sample {
    let index = (time / until * (samples.len() - 1) as f64).round() as usize;
    &samples[index.min(samples.len() - 1)]
}

/// The map from the plane of motion to the paper.
struct Page {
    scale: f64,
    /// The point at the left and upper end.
    corner: PlanePoint,
    /// Space to the left of the motion.
    indent: f64,
    /// Height of the motion, with margins.
    height: f64,
}

impl Page {
    /// The page that holds all that is drawn.
    fn around(scene: &Scene, samples: &[Sample]) -> Self {
        let joints =
            scene.bodies.iter().flat_map(|body| samples.iter().flat_map(|sample| (body.joints)(&sample.state)));
        let still = match &scene.backdrop {
            Backdrop::Pivots(pivots) => pivots.clone(),
            Backdrop::Sun => vec![[0.0, 0.0]],
            Backdrop::Sphere => vec![[-1.0, -1.0], [1.0, 1.0]],
        };
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for point in joints.chain(still) {
            for axis in 0..2 {
                low[axis] = low[axis].min(point[axis]);
                high[axis] = high[axis].max(point[axis]);
            }
        }
        let (width, height) = (high[0] - low[0], high[1] - low[1]);
        let scale = ((WIDTH - 2.0 * MARGIN) / width).min((MAX_HEIGHT - 2.0 * MARGIN) / height);
        let indent = (WIDTH - scale * width) / 2.0;
        Self { scale, corner: [low[0], high[1]], indent, height: scale * height + 2.0 * MARGIN }
    }

    fn place(&self, [x, y]: PlanePoint) -> PlanePoint {
        [self.indent + self.scale * (x - self.corner[0]), MARGIN + self.scale * (self.corner[1] - y)]
    }

    fn opening(&self, title: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" \
             font-family=\"system-ui, sans-serif\" font-size=\"13\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n\
             <title>{title}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
            self.height + 2.5 * LINE_HEIGHT
        )
    }

    /// A bar of 1, 2 or 5 times a power of ten, as long as fits into a third of the width.
    fn scale_bar(&self, unit: &str) -> String {
        let room = WIDTH / 3.0 / self.scale;
        let decade = 10_f64.powf(room.log10().floor());
        let length =
            [5.0, 2.0, 1.0].map(|digit| digit * decade).into_iter().find(|&length| length <= room).unwrap_or(decade);
        let (left, y, long) = (MARGIN, self.height + 0.5 * LINE_HEIGHT, self.scale * length);
        format!(
            "<path d=\"M{left} {:.1}v8m0 -4h{long:.1}m0 -4v8\" fill=\"none\" stroke=\"#333\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#333\">{}</text>\n",
            y - 4.0,
            left + long + 7.0,
            y + 4.5,
            format!("{length} {unit}").trim_end(),
        )
    }

    /// A line of text with the times of the poses.
    fn times(&self, scene: &Scene) -> String {
        let step = scene.posed_until / (scene.poses - 1) as f64;
        let y = self.height + 1.8 * LINE_HEIGHT;
        format!(
            "<text x=\"{MARGIN}\" y=\"{y:.1}\" fill=\"#333\">light to dark: t = 0 to {1}{0}, every {2}{0}</text>\n",
            if scene.unit == "m" { " s" } else { "" },
            three_digits(scene.posed_until),
            three_digits(step),
        )
    }
}

fn three_digits(number: f64) -> String {
    let decimals = (2.0 - number.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{number:.decimals$}")
}

fn backdrop(backdrop: &Backdrop, page: &Page) -> String {
    match backdrop {
        Backdrop::Pivots(pivots) => pivots.iter().map(|&pivot| triangle(page.place(pivot))).collect(),
        Backdrop::Sun => {
            let [x, y] = page.place([0.0, 0.0]);
            format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7\" fill=\"#E69F00\"/>\n")
        }
        Backdrop::Sphere => sphere(page),
    }
}

/// A support under a pivot.
fn triangle([x, y]: PlanePoint) -> String {
    format!("<path d=\"M{x:.1} {y:.1}l6 10h-12z\" fill=\"#fff\" stroke=\"{GREY}\"/>\n")
}

/// The outline of the unit sphere and its equator.
fn sphere(page: &Page) -> String {
    let [x, y] = page.place([0.0, 0.0]);
    let equator = (0..=72).map(|step| {
        let (sin, cos) = (f64::from(step) * 5.0).to_radians().sin_cos();
        page.place(seen([cos, sin, 0.0]))
    });
    format!(
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\" fill=\"#fafafa\" stroke=\"#ccc\"/>\n\
         <path d=\"{}\" fill=\"none\" stroke=\"#ccc\"/>\n",
        page.scale,
        line(equator),
    )
}

/// The paths of the traced masses.
fn paths(body: &Body, samples: &[Sample], page: &Page) -> String {
    let path = |joint: usize| {
        let points = samples.iter().map(|sample| page.place((body.joints)(&sample.state)[joint]));
        let colour = faded(body.colour, 0.45);
        format!("<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"0.8\"/>\n", line(points))
    };
    body.traced.clone().map(path).collect()
}

/// Rods and masses at equal times.
fn poses(scene: &Scene, samples: &[Sample], page: &Page) -> String {
    let mut drawn = String::new();
    for pose in 0..scene.poses {
        let fraction = pose as f64 / (scene.poses - 1) as f64;
        let state = &at(samples, fraction * scene.posed_until, scene.until).state;
        for body in &scene.bodies {
            let colour = faded(body.colour, 0.2 + 0.8 * fraction);
            let joints = placed(body, state, page);
            let _ = writeln!(
                drawn,
                "<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.3\"/>\
                 <path d=\"{}\" stroke=\"{colour}\" stroke-width=\"6.5\"/>",
                line(joints.iter().copied()),
                dots(&joints[body.masses.clone()]),
            );
        }
    }
    drawn
}

/// One set of bodies that runs through the motion again and again.
fn animation(scene: &Scene, samples: &[Sample], page: &Page) -> String {
    let mut drawn = String::from("<g class=\"moving\" fill=\"none\">\n");
    for body in &scene.bodies {
        let frames: Vec<Vec<PlanePoint>> = (0..=scene.frames)
            .map(|frame| scene.until * frame as f64 / scene.frames as f64)
            .map(|time| placed(body, &at(samples, time, scene.until).state, page))
            .collect();
        let rods: Vec<String> = frames.iter().map(|joints| line(joints.iter().copied())).collect();
        let masses: Vec<String> = frames.iter().map(|joints| dots(&joints[body.masses.clone()])).collect();
        let colour = if scene.bodies.len() == 1 { VERMILION } else { body.colour };
        drawn += &moving(&rods, colour, 2.5, scene.seconds);
        drawn += &moving(&masses, colour, 9.0, scene.seconds);
    }
    drawn + "</g>\n"
}

/// A path that runs through the given ones.
fn moving(frames: &[String], colour: &str, width: f64, seconds: f64) -> String {
    format!(
        "<path d=\"{}\" stroke=\"{colour}\" stroke-width=\"{width}\"><animate attributeName=\"d\" dur=\"{seconds}s\" \
         repeatCount=\"indefinite\" values=\"{}\"/></path>\n",
        frames[0],
        frames.join(";"),
    )
}

fn placed(body: &Body, state: &[f64], page: &Page) -> Vec<PlanePoint> {
    (body.joints)(state).into_iter().map(|joint| page.place(joint)).collect()
}

/// Points joined by lines.
fn line(points: impl Iterator<Item = PlanePoint>) -> String {
    points.enumerate().map(|(index, [x, y])| format!("{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' })).collect()
}

/// Lines of no length, which round ends make to dots.
fn dots(points: &[PlanePoint]) -> String {
    points.iter().map(|[x, y]| format!("M{x:.1} {y:.1}h0")).collect()
}

/// A colour mixed with white: `strength` is its part.
fn faded(colour: &str, strength: f64) -> String {
    let channels = [1, 3, 5].map(|at| u8::from_str_radix(&colour[at..at + 2], 16).unwrap_or(0));
    let [red, green, blue] = channels.map(|channel| (255.0 + strength * (f64::from(channel) - 255.0)).round() as u8);
    format!("#{red:02X}{green:02X}{blue:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Outcome = Result<(), Box<dyn Error>>;

    #[test]
    fn every_picture_moves_and_stays_on_its_page() -> Outcome {
        for Picture { name, svg, .. } in pictures()? {
            assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{name}");
            assert!(svg.contains("<animate attributeName=\"d\"") && !svg.contains("<script"), "{name}");
            let size = svg.split("viewBox=\"0 0 ").nth(1).and_then(|rest| rest.split('"').next()).ok_or("no size")?;
            let size: Vec<f64> = size.split(' ').map(str::parse).collect::<Result<_, _>>()?;
            let points = svg.split(['M', 'L']).skip(1).filter_map(|point| {
                let (x, rest) = point.split_once(' ')?;
                let y = rest.split(|c: char| !(c.is_ascii_digit() || c == '.')).next()?;
                Some((x.parse::<f64>().ok()?, y.parse::<f64>().ok()?))
            });
            let mut count = 0;
            for (x, y) in points {
                assert!((0.0..=size[0]).contains(&x) && (0.0..=size[1]).contains(&y), "{name}: {x} {y}");
                count += 1;
            }
            assert!(count > 1000, "{name} has {count} points");
        }
        Ok(())
    }

    #[test]
    fn samples_are_at_equal_times() -> Outcome {
        for scene in scenes() {
            let samples = motion(&scene)?;
            assert_eq!(samples.len(), scene.frames * POINTS_PER_FRAME + 1, "{}", scene.model);
            for frame in 0..=scene.frames {
                let time = scene.until * frame as f64 / scene.frames as f64;
                assert!((at(&samples, time, scene.until).time - time).abs() < 1e-9 * scene.until, "{}", scene.model);
            }
        }
        Ok(())
    }

    #[test]
    fn the_perturbed_planet_is_posed_in_its_perihelion() -> Outcome {
        let scenes = scenes();
        let scene = scenes.iter().find(|scene| scene.model == "perturbed-kepler").ok_or("no such scene")?;
        let samples = motion(scene)?;
        for pose in 0..scene.poses {
            let time = scene.posed_until * pose as f64 / (scene.poses - 1) as f64;
            let [x, y] = (scene.bodies[0].joints)(&at(&samples, time, scene.until).state)[1];
            assert!((x.hypot(y) - 0.4).abs() < 1e-6, "pose {pose} is {} away", x.hypot(y));
        }
        Ok(())
    }
}
