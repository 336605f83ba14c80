/// The bicycle of Carvallo and Whipple with the parameters of the published benchmark; z points down.
#[feedback_system(
    coordinates(x, y, z, yaw, lean, pitch, steer, rear, front),
    velocities(vx, vy, vz, dyaw, dlean, dpitch, dsteer, drear, dfront),
    kinematics(x = vx * yaw.cos() - vy * yaw.sin(), y = vx * yaw.sin() + vy * yaw.cos(), z = vz, yaw = dyaw, lean = dlean, pitch = dpitch, steer = dsteer, rear = drear, front = dfront),
    define(
        rot = matrix![1, 0, 0; 0, lean.cos(), -lean.sin(); 0, lean.sin(), lean.cos()]
            * matrix![pitch.cos(), 0, pitch.sin(); 0, 1, 0; -pitch.sin(), 0, pitch.cos()],
        tip = matrix![tilt.cos(), 0, tilt.sin(); 0, 1, 0; -tilt.sin(), 0, tilt.cos()],
        turn = tip * matrix![steer.cos(), -steer.sin(), 0; steer.sin(), steer.cos(), 0; 0, 0, 1] * tip.transpose(),
        axis = vector![tilt.sin(), 0, tilt.cos()],
        wb = vector![
            dlean * pitch.cos() - dyaw * lean.cos() * pitch.sin(),
            dyaw * lean.sin() + dpitch,
            dlean * pitch.sin() + dyaw * lean.cos() * pitch.cos()],
        wf = turn.transpose() * wb + dsteer * axis,
        v = rot.transpose() * vector![vx, vy, vz],
        head = vector![w + c, 0, rr],
        fork = vector![-c, 0, -rf],
        vb = v + wb.cross(&vector![xb, 0, zb + rr]),
        vp = turn.transpose() * (v + wb.cross(&head)),
        vh = vp + wf.cross(&vector![xh - w - c, 0, zh]),
        vf = vp + wf.cross(&fork),
        down = rot.transpose() * vector![0, 0, 1],
        downf = turn.transpose() * down,
        spin_r = wb + drear * vector![0, 1, 0],
        spin_f = wf + dfront * vector![0, 1, 0],
        touch_r = rr * vector![down[0], 0, down[2]] / (down[0].powi(2) + down[2].powi(2)).sqrt(),
        touch_f = rf * vector![downf[0], 0, downf[2]] / (downf[0].powi(2) + downf[2].powi(2)).sqrt(),
        slip_r = v + spin_r.cross(&touch_r),
        slip_f = vf + spin_f.cross(&touch_f),
        along_r = vector![down[2], 0, -down[0]],
        along_f = vector![downf[2], 0, -downf[0]],
        zf = z + down.dot(&head) + downf.dot(&fork),
    ),
    lagrangian = mr * v.norm_squared() / 2 + spin_r.dot(&ir.component_mul(&spin_r)) / 2
        + mb * vb.norm_squared() / 2 + wb.dot(&(ib * wb)) / 2
        + mh * vh.norm_squared() / 2 + wf.dot(&(ih * wf)) / 2
        + mf * vf.norm_squared() / 2 + spin_f.dot(&jf.component_mul(&spin_f)) / 2
        + g * (mr * z + mb * (z + down.dot(&vector![xb, 0, zb + rr])) + mh * (z + down.dot(&head) + downf.dot(&vector![xh - w - c, 0, zh])) + mf * zf),
    constraint(
        ground_r = z + rr * (down[0].powi(2) + down[2].powi(2)).sqrt(),
        ground_f = zf + rf * (downf[0].powi(2) + downf[2].powi(2)).sqrt(),
    ),
    velocity_constraint(
        roll_r = along_r.dot(&slip_r), side_r = down.cross(&along_r).dot(&slip_r),
        roll_f = along_f.dot(&slip_f), side_f = downf.cross(&along_f).dot(&slip_f),
    ),
    default(w = 1.02, c = 0.08, tilt = PI / 10, g = 9.81, rr = 0.3, mr = 2, ir = vector![0.0603, 0.12, 0.0603],
        xb = 0.3, zb = -0.9, mb = 85, ib = matrix![9.2, 0, 2.4; 0, 11, 0; 2.4, 0, 2.8],
        xh = 0.9, zh = -0.7, mh = 4, ih = matrix![0.05892, 0, -0.00756; 0, 0.06, 0; -0.00756, 0, 0.00708],
        rf = 0.35, mf = 3, jf = vector![0.1405, 0.28, 0.1405], speed = 5),
    start(x = 0, y = 0, z = -rr, yaw = 0, lean = 0, pitch = 0, steer = 0, rear = 0, front = 0,
        vx = speed, vy = 0, vz = 0, dyaw = 0, dlean = 0, dpitch = 0, dsteer = 0, drear = -speed / rr, dfront = -speed / rf),
)]
pub struct Whipple {
    pub w: f64, pub c: f64, pub tilt: f64, pub g: f64, pub rr: f64, pub mr: f64, pub ir: Vector3<f64>,
    pub xb: f64, pub zb: f64, pub mb: f64, pub ib: Matrix3<f64>, pub xh: f64, pub zh: f64, pub mh: f64, pub ih: Matrix3<f64>,
    pub rf: f64, pub mf: f64, pub jf: Vector3<f64>, pub speed: f64,
}
