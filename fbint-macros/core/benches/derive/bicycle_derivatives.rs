/// The bicycle of Carvallo and Whipple as two bodies on a hinge; z points down.
#[feedback_system(
    coordinates(x: [3], p: [4], y: [3], q: [4], rear, front), velocities(v: [3], o: [3], u: [3], w: [3], a, b),
    kinematics(x = v, p = vector![-p[1] * o[0] - p[2] * o[1] - p[3] * o[2], p[0] * o[0] + p[2] * o[2] - p[3] * o[1], p[0] * o[1] + p[3] * o[0] - p[1] * o[2], p[0] * o[2] + p[1] * o[1] - p[2] * o[0]] / 2, y = u, q = vector![-q[1] * w[0] - q[2] * w[1] - q[3] * w[2], q[0] * w[0] + q[2] * w[2] - q[3] * w[1], q[0] * w[1] + q[3] * w[0] - q[1] * w[2], q[0] * w[2] + q[1] * w[1] - q[2] * w[0]] / 2, rear = a, front = b),
    define(
        r = matrix![
  p[0].powi(2) + p[1].powi(2) - p[2].powi(2) - p[3].powi(2), 2 * (p[1] * p[2] - p[0] * p[3]), 2 * (p[1] * p[3] + p[0] * p[2]);
  2 * (p[1] * p[2] + p[0] * p[3]), p[0].powi(2) - p[1].powi(2) + p[2].powi(2) - p[3].powi(2), 2 * (p[2] * p[3] - p[0] * p[1]);
  2 * (p[1] * p[3] - p[0] * p[2]), 2 * (p[2] * p[3] + p[0] * p[1]), p[0].powi(2) - p[1].powi(2) - p[2].powi(2) + p[3].powi(2)],
        s = matrix![
  q[0].powi(2) + q[1].powi(2) - q[2].powi(2) - q[3].powi(2), 2 * (q[1] * q[2] - q[0] * q[3]), 2 * (q[1] * q[3] + q[0] * q[2]);
  2 * (q[1] * q[2] + q[0] * q[3]), q[0].powi(2) - q[1].powi(2) + q[2].powi(2) - q[3].powi(2), 2 * (q[2] * q[3] - q[0] * q[1]);
  2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]), q[0].powi(2) - q[1].powi(2) - q[2].powi(2) + q[3].powi(2)],
        dr = r.transpose() * vector![0, 0, 1], df = s.transpose() * vector![0, 0, 1],
        nr = (dr[0].powi(2) + dr[2].powi(2)).sqrt(), nf = (df[0].powi(2) + df[2].powi(2)).sqrt(),
        tr = hub_r + rad_r * vector![dr[0], 0, dr[2]] / nr, tf = hub_f + rad_f * vector![df[0], 0, df[2]] / nf,
        slip_r = v + r * (o.cross(&tr) + a * rad_r / nr * vector![dr[2], 0, -dr[0]]),
        slip_f = u + s * (w.cross(&tf) + b * rad_f / nf * vector![df[2], 0, -df[0]]),
    ),
    lagrangian = mr * v.norm_squared() / 2 + o.dot(&(jr * o)) / 2 + ir * o[1] * a + ir * a.powi(2) / 2 + mr * g * x[2]
        + mf * u.norm_squared() / 2 + w.dot(&(jf * w)) / 2 + jy * w[1] * b + jy * b.powi(2) / 2 + mf * g * y[2],
    constraint(
        unit_r = p.norm_squared() - 1, unit_f = q.norm_squared() - 1,
        joint = x + r * pr - y - s * pf,
        hinge_y = (r * vector![0, 1, 0]).dot(&(s * axis)), hinge_n = (r * vector![axis[2], 0, -axis[0]]).dot(&(s * axis)),
        ground_r = x[2] + dr.dot(&hub_r) + rad_r * nr, ground_f = y[2] + df.dot(&hub_f) + rad_f * nf,
    ),
    velocity_constraint(rx = slip_r[0], ry = slip_r[1], fx = slip_f[0], fy = slip_f[1]),
    default(mr = 87, jr = matrix![9.963748275862068, 0.0, 2.7517241379310344; 0.0, 11.999310344827586, 0.0; 2.7517241379310344, 0.0, 3.0361620689655173], ir = 0.12, mf = 7, jf = matrix![0.40942, 0.0, -0.07955999999999999; 0.0, 0.5746857142857142, 0.0; -0.07955999999999999, 0.0, 0.17226571428571433], jy = 0.28, g = 9.81,
        hub_r = vector![-0.29310344827586204, 0.0, 0.586206896551724], hub_f = vector![0.06857142857142862, 0.0, 0.19999999999999996], rad_r = 0.3, rad_f = 0.35,
        pr = vector![0.806896551724138, 0.0, 0.886206896551724], pf = vector![0.1485714285714287, 0.0, 0.5499999999999999], axis = vector![0.3090169943749474, 0.0, 0.9510565162951535], cr = vector![0.29310344827586204, 0.0, -0.886206896551724], cf = vector![0.9514285714285714, 0.0, -0.5499999999999999], speed = 5),
    start(x = cr, p = vector![1, 0, 0, 0], y = cf, q = vector![1, 0, 0, 0], rear = 0, front = 0,
        v = vector![speed, 0, 0], o = vector![0, 0, 0], u = vector![speed, 0, 0], w = vector![0, 0, 0], a = -speed / rad_r, b = -speed / rad_f),
    derivatives,
)]
pub struct Bicycle {
    pub mr: f64, pub jr: Matrix3<f64>, pub ir: f64, pub mf: f64, pub jf: Matrix3<f64>, pub jy: f64, pub g: f64,
    pub hub_r: Vector3<f64>, pub hub_f: Vector3<f64>, pub rad_r: f64, pub rad_f: f64, pub pr: Vector3<f64>, pub pf: Vector3<f64>,
    pub axis: Vector3<f64>, pub cr: Vector3<f64>, pub cf: Vector3<f64>, pub speed: f64,
}
