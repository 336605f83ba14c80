//! The members of an ensemble, block by block: what varies over them, how a block is integrated, and its rows in files.
//!
//! The results of a block depend on nothing but the command line and its members: any process can integrate it alone, in any order. The
//! rows of blocks in their order are the rows of the ensemble.

use std::error;
use std::ops::ControlFlow;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use fbint_runtime::Error;
use fbint_runtime::Error::Interrupted;
use rand_distr::{Distribution as _, StandardNormal, StandardUniform};
use serde::{Deserialize, Serialize};

use crate::files::rows::{Cell, ColumnDefinition};
use crate::files::trajectory::{motion, names_of_motion, state_and_changes};
use crate::line::arguments::{Distribution, EnsembleArguments, Variation};
use crate::line::start::Given;
use crate::runs::job::Job;
use crate::runs::tally::Tally;
use crate::words::names::{ERROR, MEMBER};
use crate::words::nearest;
use fbint_catalogue::{AnyModel, Entry, Member, Plan, Sample};

/// The name under which the common gain of all integrals varies.
const GAINS: &str = "gains";
/// The number of members in a block, but for the last one. Statistics are summed up block by block, so that their last digits depend
/// on it.
pub(crate) const SIZE: u32 = 1 << 11;

/// A quantity that varies, with its position.
enum Varied {
    Parameter(usize),
    Start(usize),
    Gain,
}

/// All members of an ensemble.
pub(crate) struct Members<'a> {
    arguments: &'a EnsembleArguments,
    /// The model with the parameters that members have in common.
    common: Box<dyn AnyModel>,
    /// The model with the parameters of one member after another.
    own: Box<dyn AnyModel>,
    given: Given,
    varied: Vec<Varied>,
}

/// The outcomes of some members.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Block {
    /// The facts about them together.
    pub(crate) tally: Tally,
    /// Each of them.
    ends: Vec<End>,
}

/// The outcome of a member.
#[derive(Debug, Serialize, Deserialize)]
struct End {
    member: u32,
    /// The numbers that were drawn for it, in the order of `--vary`.
    drawn: Vec<f64>,
    /// The member at the end, or why it did not get there.
    end: Result<Sample, String>,
}

/// Who sees a block while it is integrated.
pub(crate) struct BlockObserver<'a> {
    /// Called with the fraction of the block that is done; says whether to go on.
    pub(crate) progress: &'a mut (dyn FnMut(f64) -> ControlFlow<()> + Send),
    /// Called with every member that does not fail, in their order, and its samples.
    pub(crate) samples: Option<&'a mut SeeSamples<'a>>,
}

/// A function that is shown a member and its samples.
pub(crate) type SeeSamples<'a> = dyn FnMut(u32, &[Sample]) + Send + 'a;

impl<'a> Members<'a> {
    /// The members of an ensemble of `job`.
    ///
    /// # Errors
    ///
    /// If something varies that the model does not have, that varies twice, or that is given.
    pub(crate) fn new(
        models: &[Entry],
        arguments: &'a EnsembleArguments,
        job: &Job,
    ) -> Result<Self, Box<dyn error::Error>> {
        let (common, own) = (job.model(models)?, job.model(models)?);
        let given = Given::of(&*common, &arguments.integration)?;
        let varied = varied(&*common, &given, &arguments.vary)?;
        Ok(Self { arguments, common, own, given, varied })
    }

    /// The model with the parameters that members have in common.
    pub(crate) fn model(&self) -> &dyn AnyModel {
        &*self.common
    }

    /// Returns `true` if each member has separate gains.
    pub(crate) fn have_gains(&self) -> bool {
        self.varied.iter().any(|varied| matches!(varied, Varied::Gain))
    }

    /// The number of blocks.
    pub(crate) fn blocks(&self) -> u32 {
        self.arguments.members.div_ceil(SIZE)
    }

    /// Integrates the members of the block with this number, which is less than [`blocks`](Self::blocks). A member without a start has
    /// its error in its place among the ends. Members that are not done when the observer breaks are left out.
    ///
    /// # Errors
    ///
    /// If the plan is refused.
    pub(crate) fn integrate(
        &mut self,
        block: u32,
        plan: &Plan,
        observer: BlockObserver<'_>,
    ) -> Result<Block, Box<dyn error::Error>> {
        // The end of the last block may be beyond what can be counted.
        let first =
            block.checked_mul(SIZE).ok_or_else(|| format!("an ensemble has no block with the number {block}"))?;
        let members = first..self.arguments.members.min(first.saturating_add(SIZE));
        let drawn: Vec<Vec<f64>> = members.clone().map(|member| draw(self.arguments, member)).collect();
        let (mut startable, mut numbers, mut failures) = (Vec::new(), Vec::new(), Vec::new());
        for (number, drawn) in members.clone().zip(&drawn) {
            let member = match (observer.progress)(0.0) {
                ControlFlow::Continue(()) => self.member(drawn),
                ControlFlow::Break(()) => Err(Interrupted),
            };
            match member {
                Ok(member) => {
                    startable.push(member);
                    numbers.push(number);
                    failures.push(None);
                }
                Err(error) => failures.push(Some(error)),
            }
        }
        let mut visit = observer.samples.map(|samples| |index: usize, track: &[Sample]| samples(numbers[index], track));
        let visit = visit.as_mut().map(|visit| visit as &mut (dyn FnMut(usize, &[Sample]) + Send));
        let run = self.common.run_ensemble(&startable, plan, observer.progress, visit)?;
        let mut ends = run.ends.into_iter();
        let ends =
            failures.into_iter().filter_map(|failure| failure.map_or_else(|| ends.next(), |error| Some(Err(error))));
        let done = members.zip(drawn).zip(ends).filter(|(_, end)| !matches!(end, Err(Interrupted)));
        let end = |((member, drawn), end): (_, Result<Sample, Error>)| End {
            member,
            drawn,
            end: end.map_err(|error| error.to_string()),
        };
        let ends: Vec<End> = done.map(end).collect();
        let failures = ends.iter().filter_map(|end| Some((end.member, end.end.as_ref().err()?)));
        Ok(Block { tally: Tally::of(run.statistics, ends.len(), failures), ends })
    }

    /// The member for which these numbers were drawn; an error if it has no start.
    fn member(&mut self, drawn: &[f64]) -> Result<Member, Error> {
        let (mut gain, mut entries) = (None, Vec::new());
        for (varied, &number) in self.varied.iter().zip(drawn) {
            match varied {
                Varied::Parameter(index) => self.own.set_parameter(*index, number),
                Varied::Start(entry) => entries.push((*entry, number)),
                Varied::Gain => gain = Some(number),
            }
        }
        // The model's own start depends on its parameters.
        let start = self.given.start(&*self.own, &entries)?;
        let parameters = self.own.parameters().into_iter().map(|parameter| parameter.1).collect();
        Ok(Member { parameters, start, gain })
    }

    /// The columns of [`Block::ends`].
    pub(crate) fn columns_of_ends(&self) -> Vec<ColumnDefinition> {
        let drawn =
            self.arguments.vary.iter().map(|variation| ColumnDefinition::number(format!("drawn({})", variation.name)));
        let quantities = state_and_changes(self.model()).into_iter().map(ColumnDefinition::number);
        [ColumnDefinition::count(MEMBER)]
            .into_iter()
            .chain(drawn)
            .chain(quantities)
            .chain([ColumnDefinition::text(ERROR)])
            .collect()
    }

    /// The columns of [`row_of_sample`].
    pub(crate) fn columns_of_samples(&self) -> Vec<ColumnDefinition> {
        [ColumnDefinition::count(MEMBER)]
            .into_iter()
            .chain(names_of_motion(self.model()).map(ColumnDefinition::number))
            .collect()
    }
}

impl Block {
    /// This block without the results of its single members.
    pub(crate) fn summary(self) -> Self {
        Self { ends: Vec::new(), ..self }
    }

    /// Calls `push` with a row for each member: its number, what varied, state and changes at the end, or the error of a member that
    /// failed.
    pub(crate) fn ends<E>(&self, mut push: impl FnMut(&[Cell<'_>]) -> Result<(), E>) -> Result<(), E> {
        let quantities = self.tally.statistics.first().map_or(0, |at| at.quantities.len());
        for End { member, drawn, end } in &self.ends {
            let mut row = vec![Cell::Count((*member).into())];
            row.extend(drawn.iter().map(|&number| Cell::Number(number)));
            match end {
                Ok(end) => row.extend(end.state.iter().chain(&end.change).map(|&number| Cell::Number(number))),
                Err(_) => row.extend((0..quantities).map(|_| Cell::Nothing)),
            }
            row.push(end.as_ref().err().map_or(Cell::Nothing, |error| Cell::Text(error)));
            push(&row)?;
        }
        Ok(())
    }
}

/// The row of one sample of a member: its number, and its [`motion`].
pub(crate) fn row_of_sample(member: u32, sample: &Sample, clock: Option<usize>) -> Vec<Cell<'static>> {
    [Cell::Count(member.into())].into_iter().chain(motion(sample, clock).into_iter().map(Cell::Number)).collect()
}

fn varied(model: &dyn AnyModel, given: &Given, variations: &[Variation]) -> Result<Vec<Varied>, Box<dyn error::Error>> {
    let parameters: Vec<&str> = model.parameters().iter().map(|parameter| parameter.0).collect();
    let (p, n) = (parameters.len(), model.state_names().len());
    let names: Vec<&str> = parameters.iter().copied().chain(model.state_names()).chain([GAINS]).collect();
    let mut found = Vec::new();
    for Variation { name, .. } in variations {
        let index = nearest::find("name in --vary", name, &names)?;
        if found.contains(&index) {
            return Err(format!("--vary names `{name}` twice: give one distribution to each name").into());
        }
        if (p..p + n).contains(&index) && given.names(index - p) {
            return Err(format!("--vary draws `{name}`, which --start or --guess gives: keep one of them").into());
        }
        found.push(index);
    }
    let kind = |index: usize| match index {
        _ if index < p => Varied::Parameter(index),
        _ if index < p + n => Varied::Start(index - p),
        _ => Varied::Gain,
    };
    Ok(found.into_iter().map(kind).collect())
}

/// The numbers drawn for one member, in the order of `--vary`. Each member has its own stream of random numbers.
fn draw(arguments: &EnsembleArguments, member: u32) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(arguments.seed);
    random.set_stream(member.into());
    let number = |variation: &Variation| match variation.distribution {
        Distribution::Normal { mean, deviation } => {
            let normal: f64 = StandardNormal.sample(&mut random);
            mean + deviation * normal
        }
        Distribution::Uniform { from, to } => {
            let fraction: f64 = StandardUniform.sample(&mut random);
            from + (to - from) * fraction
        }
        Distribution::Linspace { from, to } => {
            from + (to - from) * f64::from(member) / f64::from((arguments.members - 1).max(1))
        }
    };
    arguments.vary.iter().map(number).collect()
}
