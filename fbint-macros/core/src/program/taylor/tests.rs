use super::{Convolution, Layout, TaylorSeries, verify_series};
use crate::derivation::table::Id;
use crate::expression::{Function, Symbol};
use crate::numbers::random::numbered;
use crate::program::code::{Builder, Input, Instruction, Program, Sign, Value};

/// A field of three variables and an input that is made of random instructions of every kind, in which arguments are where functions are
/// defined.
fn random_field(seed: u64) -> Program {
    let mut drawn = seed << 32;
    let mut draw = |below: usize| {
        drawn += 1;
        (numbered(drawn) * below as f64) as usize
    };
    let mut instructions: Vec<Instruction> =
        (0..3).map(|place| Instruction::Input(Input::State(Symbol::at(place)))).collect();
    instructions.push(Instruction::constant(0.75));
    instructions.push(Instruction::Input(Input::Driving(Symbol::at(3))));
    for _ in 0..24 {
        let [a, b, c] = [(); 3].map(|()| Value::at(draw(instructions.len())));
        let function = Function::ALL[draw(Function::ALL.len())];
        let signs = [[Sign::Plus, Sign::Minus][draw(2)], [Sign::Plus, Sign::Minus][draw(2)]];
        let small = |instructions: &mut Vec<Instruction>| {
            instructions.push(Instruction::Unary(Function::Tanh, a));
            let (bounded, half) = (Value::at(instructions.len() - 1), Value::at(3));
            instructions.push(Instruction::Mul(half, bounded));
            Value::at(instructions.len() - 1)
        };
        let kind = draw(10);
        let instruction = match kind {
            0 => Instruction::Add(a, b),
            1 => Instruction::Sub(a, b),
            2 => Instruction::Mul(a, b),
            3 => Instruction::Neg(a),
            4 => Instruction::MulAdd(signs, a, b, c),
            _ => {
                // 0.75 tanh(a) lies between -0.75 and 0.75, and the exponential of it in (0.4, 2.2).
                let small = small(&mut instructions);
                instructions.push(Instruction::Unary(Function::Exp, small));
                let positive = Value::at(instructions.len() - 1);
                match (kind, function) {
                    (5, _) => Instruction::Div(b, positive),
                    (6, _) => Instruction::Recip(positive),
                    (7, _) => Instruction::Sqrt(positive),
                    (_, Function::Abs | Function::Sign | Function::Step) => Instruction::Unary(function, a),
                    (_, Function::Atan2 | Function::Powf) => Instruction::Binary(function, positive, small),
                    (_, Function::Ln) => Instruction::Unary(function, positive),
                    (_, function) => Instruction::Unary(function, small),
                }
            }
        };
        instructions.push(instruction);
    }
    let last = instructions.len();
    let mut field = Program { instructions, outputs: [1, 2, 3].map(|back| Value::at(last - back)).to_vec() };
    field.eliminate_dead_values();
    field
}

/// c x^e in many forms, along x' = 1 + x^2 / 4.
#[test]
fn powers_have_the_rule_of_their_base() {
    let mut builder = Builder::default();
    let (x, c) = (builder.input(Input::State(Symbol::at(0))), builder.constant(-3.0));
    let root = builder.push(Instruction::Sqrt(x));
    let cube = builder.mul(x, root);
    let reciprocal = builder.recip(cube);
    let of_root = builder.recip(root);
    let scaled = builder.mul(c, of_root);
    let square = builder.mul(scaled, of_root);
    let quotient = builder.push(Instruction::Div(c, cube));
    let field = {
        let mut field = Builder::default();
        let x = field.input(Input::State(Symbol::at(0)));
        let (quarter, one, square) = (field.constant(0.25), field.constant(1.0), field.mul(x, x));
        let square = field.mul(quarter, square);
        let rate = field.add(one, square);
        field.finish(vec![rate])
    };
    let nothing = Program::default();
    for (function, sums) in [(cube, 2), (reciprocal, 2), (of_root, 2), (square, 2), (quotient, 2), (root, 1)] {
        let functions = builder.program(vec![function]);
        let series = TaylorSeries::of(&field, &functions);
        assert_eq!(verify_series(&field, &functions, &nothing, &series), Ok(()), "{functions}");
        // One of them is of the field.
        let products = series.sums.iter().map(|Convolution(products)| products.len()).sum::<usize>();
        assert_eq!(products, sums + 1, "{functions}\n{series:?}");
    }
}

#[test]
fn every_coefficient_of_random_fields_satisfies_the_differential_equation() {
    let mut names = std::collections::BTreeSet::new();
    let (mut defined, mut switches, mut driven, nothing) = (0, 0, 0, Program::default());
    for seed in 1..=300 {
        let field = random_field(seed);
        let functions = if seed % 5 == 0 { random_field(seed + 1000) } else { Program::default() };
        for instruction in &field.instructions {
            let kind = instruction.clone().map(|_| Value::at(0));
            if instruction.operands().next().is_some() {
                names.insert(format!("{kind:?}"));
            }
        }
        let series = TaylorSeries::of(&field, &functions);
        assert_eq!(verify_series(&field, &functions, &nothing, &series), Ok(()), "{seed}: {field}\n{series:?}");
        let input = |input| match input {
            Input::State(symbol) | Input::Driving(symbol) => 0.5 + symbol.place() as f64 / 4.0,
            _ => f64::NAN,
        };
        let (states, watched) = series.coefficients(&input, 5);
        driven += usize::from(!series.inputs.is_empty());
        defined += usize::from(states.iter().chain(&watched).flatten().all(|number: &f64| number.is_finite()));
        switches += series.switches;
    }
    // Functions of one and of two arguments, and all other operations, one of them with four pairs of signs.
    assert_eq!(names.len(), Function::ALL.len() + 11, "{names:?}");
    assert!(defined > 250 && switches > 20 && driven > 100, "{defined} {switches} {driven}");
}

#[test]
fn a_wrong_coefficient_is_noticed() {
    let (mut noticed, mut sums, nothing) = (0, 0, Program::default());
    for field in (1..=9).map(random_field) {
        let series = TaylorSeries::of(&field, &nothing);
        sums += series.sums.len();
        for place in 0..series.sums.len() {
            let mut wrong = series.clone();
            wrong.sums[place].0.clear();
            noticed += usize::from(verify_series(&field, &nothing, &nothing, &wrong).is_err());
        }
    }
    assert!(noticed > 0 && noticed == sums, "{noticed} of {sums}");
}

/// x' = y, y' = -|x|: the side of x decides, and x is watched.
#[test]
fn a_switch_has_a_side() {
    let [x, y] = [0, 1].map(|place| Instruction::Input(Input::State(Symbol::at(place))));
    let instructions = vec![x, y, Instruction::Unary(Function::Abs, Value::at(0)), Instruction::Neg(Value::at(2))];
    let field = Program { instructions, outputs: vec![Value::at(1), Value::at(3)] };
    let series = TaylorSeries::of(&field, &Program::default());
    assert_eq!((series.switches, series.watched), (1, 1));
    for side in [-1.0, 1.0] {
        let input = |input| match input {
            Input::State(symbol) => [0.5 * side, 1.0][symbol.place()],
            _ => f64::NAN,
        };
        let (states, watched) = series.coefficients(&input, 3);
        assert_eq!(watched, states.iter().map(|row| vec![row[0]]).collect::<Vec<Vec<f64>>>());
        assert_eq!((states[1][1], states[2][1]), (-0.5, -0.5 * side));
    }
}

#[test]
fn a_lane_takes_each_product_of_a_sum_once() {
    for seed in 1..=50 {
        let series = TaylorSeries::of(&random_field(seed), &Program::default());
        let layout = Layout::of(&series);
        let columns = &layout.columns;
        for (Convolution(products), lanes) in series.sums.iter().zip(&layout.lanes) {
            let of_lane = |&[group, place]: &[usize; 2]| {
                let products = layout.groups[group].products.iter();
                products.map(move |pair| (group, pair.map(|column| columns[column][place])))
            };
            let taken: Vec<_> = lanes.iter().flat_map(of_lane).collect();
            let mut taken_products: Vec<_> = taken.iter().map(|(_, product)| *product).collect();
            let mut expected = products.clone();
            for pairs in [&mut taken_products, &mut expected] {
                pairs.iter_mut().for_each(|pair| pair.sort_unstable());
                pairs.sort_unstable();
            }
            assert_eq!(taken_products, expected);
            let half = |(group, [a, b]): &(usize, [usize; 2])| !layout.groups[*group].is_half || a == b;
            assert!(taken.iter().all(half));
        }
    }
}

/// Everything that the series of a field are computed by.
fn listing(field: &Program) -> String {
    let series = TaylorSeries::of(field, &Program::default());
    let sums: Vec<String> = series.sums.iter().map(|Convolution(pairs)| format!("{pairs:?}")).collect();
    format!("field\n{field}\nbegin\n{}\nsums {}\n\nfinish\n{}", series.begin, sums.join(", "), series.finish)
}

/// A reviewed listing: each field takes as few sums as it can.
fn assert_is(listing: &str, reviewed: &str, name: &str) {
    if std::env::var_os("INSTA_UPDATE").is_some() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/program/taylor/");
        std::fs::write(format!("{folder}{name}.txt"), listing).expect("a folder that can be written to");
    } else {
        assert_eq!(listing, reviewed, "write {name}.txt anew with INSTA_UPDATE=always, and read the difference");
    }
}

/// -x - 2 x y and y^2 - x^2 - y: a product, and a difference of squares.
#[test]
fn the_potential_of_henon_and_heiles_takes_three_sums() {
    let mut builder = Builder::default();
    let [x, y, u, v] = [0, 1, 2, 3].map(|place| builder.input(Input::State(Symbol::at(place))));
    let two = builder.constant(2.0);
    let (product, squares) = (builder.mul(x, y), [builder.mul(x, x), builder.mul(y, y)]);
    let product = builder.mul(two, product);
    let (sum, difference) = (builder.add(x, product), builder.sub(squares[1], squares[0]));
    let rates = vec![u, v, builder.neg(sum), builder.sub(difference, y)];
    assert_is(&listing(&builder.finish(rates)), include_str!("star.txt"), "star");
}

/// -q / |q|^3: squares, the cube by the rule of powers, and two products.
#[test]
fn the_cube_of_a_distance_takes_one_sum() {
    let mut builder = Builder::default();
    let [x, y, u, v] = [0, 1, 2, 3].map(|place| builder.input(Input::State(Symbol::at(place))));
    let squares = [x, y].map(|entry| builder.mul(entry, entry));
    let square = builder.add(squares[0], squares[1]);
    let root = builder.push(Instruction::Sqrt(square));
    let cube = builder.mul(square, root);
    let reciprocal = builder.recip(cube);
    let forces = [x, y].map(|entry| builder.mul(entry, reciprocal)).map(|force| builder.neg(force));
    let rates = vec![u, v, forces[0], forces[1]];
    assert_is(&listing(&builder.finish(rates)), include_str!("orbit.txt"), "orbit");
}
