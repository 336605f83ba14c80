//! Tables of members as folders: a Parquet file for each block of members, as pyarrow, polars, Dask and Spark read a dataset.
//!
//! Whoever integrates a block writes its parts, which have their names as soon as they are whole. The part of block 7 is
//! `part-0000007.parquet`, so that parts in the order of their names have members in their order.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf, is_separator};

use super::samples::SampleTable;
use crate::ensemble::members::{Block, Members};
use crate::files::output::{OutputFile, WholeDraft};
use crate::files::table::{Format, TableDraft, TableFile};
use crate::line::arguments::EnsembleArguments;

/// The tables of an ensemble that are folders.
#[derive(Clone)]
pub(super) struct Datasets {
    pub(super) ends: Option<Dataset>,
    pub(super) samples: Option<Dataset>,
}

/// A folder of parts.
#[derive(Clone)]
pub(super) struct Dataset(OutputFile);

/// The parts of a block on their way into files.
pub(super) struct Parts {
    ends: Option<TableDraft>,
    samples: Option<SampleTable>,
}

/// Returns `true` if a path names a folder, by its ending, because the folder need not exist yet.
pub(super) fn is_folder(path: &Path) -> bool {
    path.to_string_lossy().ends_with(is_separator)
}

impl Datasets {
    /// Checks that the folders can be written.
    pub(super) fn of(arguments: &EnsembleArguments) -> Result<Self, Box<dyn Error>> {
        let dataset =
            |path: &Option<PathBuf>| path.as_deref().filter(|path| is_folder(path)).map(Dataset::at).transpose();
        Ok(Self { ends: dataset(&arguments.ends)?, samples: dataset(&arguments.samples)? })
    }

    fn all(&self) -> impl Iterator<Item = &Dataset> {
        [&self.ends, &self.samples].into_iter().flatten()
    }

    /// Refuses folders with anything in them, which would be read as if it belonged to the parts.
    pub(super) fn check_empty(&self) -> Result<(), Box<dyn Error>> {
        let is_empty = |folder: &Path| fs::read_dir(folder).map_or(true, |mut names| names.next().is_none());
        match self.all().find(|dataset| !is_empty(dataset.0.target())) {
            Some(dataset) => {
                let name = dataset.0.path().display();
                Err(format!("{name} is not empty: give another folder, or delete what is in it").into())
            }
            None => Ok(()),
        }
    }

    /// Removes folders that have no part.
    pub(super) fn remove_empty(&self) {
        for dataset in self.all() {
            let _ = fs::remove_dir(dataset.0.target());
        }
    }

    /// Begins the parts of a block. Until they are whole they are in the folder `drafts`, or else next to their folder.
    pub(super) fn begin(
        &self,
        block: u32,
        members: &Members<'_>,
        drafts: Option<&Path>,
    ) -> Result<Parts, Box<dyn Error>> {
        let file = |dataset: &Option<Dataset>| dataset.as_ref().map(|dataset| dataset.part(block, drafts)).transpose();
        let ends = file(&self.ends)?.map(|file| file.begin(&members.columns_of_ends())).transpose()?;
        let samples = file(&self.samples)?.map(|file| SampleTable::begin(&file, members)).transpose()?;
        Ok(Parts { ends, samples })
    }

    /// The paths of the parts of a block.
    pub(super) fn paths(&self, block: u32) -> Vec<PathBuf> {
        self.all().map(|dataset| dataset.output_of(block).path().to_owned()).collect()
    }
}

impl Dataset {
    fn at(path: &Path) -> Result<Self, Box<dyn Error>> {
        Format::parquet()?;
        OutputFile::of_folder(path).map(Self)
    }

    pub(super) fn output(&self) -> &OutputFile {
        &self.0
    }

    /// The place of the part of a block.
    fn output_of(&self, block: u32) -> OutputFile {
        self.0.within(&format!("part-{block:07}.parquet"))
    }

    /// The part of a block, and the folder. Whatever ends the process, nothing but parts is left there.
    fn part(&self, block: u32, drafts: Option<&Path>) -> Result<TableFile, Box<dyn Error>> {
        let folder = self.0.target();
        match fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(self.0.refusal(&error)),
            _ => {}
        }
        let file = TableFile::of_part(self.output_of(block))?;
        Ok(drafts.or(folder.parent()).map_or(file.clone(), |drafts| file.drafted_in(drafts)))
    }
}

impl Parts {
    /// The part of the samples, if there is one.
    pub(super) fn samples(&mut self) -> Option<&mut SampleTable> {
        self.samples.as_mut()
    }

    /// Writes the parts of a block, whose samples were written, and does not publish them yet. A block without members has none.
    pub(super) fn finish(
        self,
        block: &Block,
        record: impl Fn() -> Result<String, Box<dyn Error>>,
    ) -> Result<Vec<WholeDraft>, Box<dyn Error>> {
        let mut files = Vec::new();
        if block.tally.members == 0 {
            return Ok(files);
        }
        if let Some(mut table) = self.ends {
            block.ends(|row| table.push(row))?;
            files.push(table.finish(&record()?)?);
        }
        if let Some(table) = self.samples {
            files.push(table.finish(&record()?)?);
        }
        Ok(files)
    }
}

#[cfg(all(test, unix, feature = "parquet"))]
mod tests {
    use std::time::UNIX_EPOCH;

    use tempfile::tempdir;

    use super::*;
    use crate::ensemble::members::SIZE;
    use crate::files::output::publish;
    use crate::files::rows::ColumnDefinition;

    /// Names of one length have one order, as texts and as numbers.
    #[test]
    fn the_last_part_of_the_largest_ensemble_has_a_name_as_long_as_the_first() -> Result<(), Box<dyn Error>> {
        let dataset = Dataset(OutputFile::of_folder(Path::new("parts"))?);
        let [first, last] = [0, u32::MAX / SIZE].map(|block| dataset.output_of(block).path().as_os_str().len());
        assert_eq!(first, last);
        Ok(())
    }

    /// The time of the last change in a folder tells when a file came or went there.
    #[test]
    fn nothing_is_in_the_folder_before_a_part_is_whole() -> Result<(), Box<dyn Error>> {
        let around = tempdir()?;
        let path = around.path().join("parts");
        fs::create_dir(&path)?;
        let folder = fs::File::open(&path)?;
        folder.set_modified(UNIX_EPOCH)?;
        let part = Dataset(OutputFile::of_folder(&path)?).part(0, None)?.begin(&[ColumnDefinition::count("member")])?;
        let whole = part.finish("{}")?;
        assert_eq!(folder.metadata()?.modified()?, UNIX_EPOCH);
        publish([whole])?;
        assert!(folder.metadata()?.modified()? > UNIX_EPOCH);
        Ok(())
    }
}
