//! The checkpoint of an ensemble: a folder with the blocks of members that are done.
//!
//! The file `ensemble` says which ensemble it is, in the two lines of every [checkpoint](crate::runs::checkpoint). The file `block-7` holds
//! what became of the members of block 7: parts in the format of Postcard, each after its length, and then the SHA-256 of all of
//! them. A file is there when it is whole, whatever process has written it; files that are not whole yet are hidden.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::{self, DirEntry, File, TryLockError};
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ensemble::members::{Block, SeeSamples};
use crate::files::output::{OutputFile, PREFIX, Replace, WholeDraft, publish, reason};
use crate::line::arguments::EnsembleArguments;
use crate::runs::checkpoint::{self, VERSION};
use crate::words::help::program;
use fbint_catalogue::Sample;

/// The file that says which ensemble it is.
const HEAD: &str = "ensemble";
const BLOCK: &str = "block-";
/// The number of bytes of a SHA-256.
const DIGEST: u64 = 32;

/// The contents of the file `ensemble`.
#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    fbint: String,
    pub(super) code_sha256: String,
    /// The options, with paths that do not depend on the current folder.
    pub(super) arguments: EnsembleArguments,
}

impl Head {
    pub(super) fn new(code_sha256: &str, arguments: EnsembleArguments) -> Self {
        Self { fbint: VERSION.to_owned(), code_sha256: code_sha256.to_owned(), arguments }
    }

    /// The ensemble whose blocks are in a folder.
    pub(super) fn read(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let head = folder.join(HEAD);
        if !head.exists() {
            let (name, program) = (folder.display(), program());
            return Err(format!(
                "{name} is not the checkpoint of an ensemble: give a folder that `{program} ensemble --checkpoint` has written"
            )
            .into());
        }
        checkpoint::read(&head, folder)
    }
}

/// The folder with the blocks that are done.
pub(super) struct Blocks {
    folder: PathBuf,
    /// The file of the head, locked by the process that leads.
    _lock: Option<File>,
}

/// A part of the file of a block.
#[derive(Serialize, Deserialize)]
enum BlockPart {
    /// A member and its samples.
    Samples(u32, Vec<Sample>),
    /// Everything else, at the end, with the lengths of the parts of the block in datasets.
    Rest(Block, Vec<u64>),
}

impl Blocks {
    /// The place of the folder of a new ensemble, which is an output as others are.
    ///
    /// # Errors
    ///
    /// If there is something already.
    pub(super) fn place(folder: &Path) -> Result<OutputFile, Box<dyn Error>> {
        let name = folder.display();
        if folder.join(HEAD).exists() {
            return Err(format!(
                "{name} has blocks of an ensemble that did not come to its end: `{} resume {name}` resumes it; or delete the folder",
                program()
            )
            .into());
        }
        // A process that was killed may have left an empty folder.
        if folder.exists() && fs::remove_dir(folder).is_err() {
            return Err(
                format!("{name} is there already, and not the checkpoint of an ensemble: give another name").into()
            );
        }
        OutputFile::at(folder, Replace::Own)
    }

    /// Makes the folder of an ensemble that has not begun.
    pub(super) fn create(folder: &Path, head: &Head) -> Result<Self, Box<dyn Error>> {
        fs::create_dir(folder)
            .map_err(|error| format!("cannot create {}: {}", folder.display(), reason(&error, "no such folder")))?;
        checkpoint::write(head, &OutputFile::at(&folder.join(HEAD), Replace::Own)?)?;
        Self::open(folder)
    }

    /// The folder of an ensemble that this process leads.
    ///
    /// # Errors
    ///
    /// If another process leads it.
    pub(super) fn open(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let lock = File::open(folder.join(HEAD))
            .map_err(|error| format!("cannot read {}: {}", folder.display(), reason(&error, "no such file")))?;
        // Not every file system has locks.
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(format!("{} is in use by another process: wait for its end", folder.display()).into());
        }
        let blocks = Self { folder: folder.to_owned(), _lock: Some(lock) };
        // What a process that was killed has left.
        for name in blocks.names()?.iter().filter(|name| name.starts_with(PREFIX)) {
            let _ = fs::remove_file(folder.join(name));
        }
        Ok(blocks)
    }

    /// The folder of an ensemble that another process leads.
    pub(super) fn of_leader(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), _lock: None }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The blocks that are done.
    pub(super) fn done(&self) -> Result<BTreeSet<u32>, Box<dyn Error>> {
        Ok(self.names()?.iter().filter_map(|name| name.strip_prefix(BLOCK)?.parse().ok()).collect())
    }

    fn names(&self) -> Result<Vec<String>, Box<dyn Error>> {
        let name = |file: io::Result<DirEntry>| Ok(file?.file_name().to_string_lossy().into_owned());
        let names = fs::read_dir(&self.folder).and_then(|files| files.map(name).collect());
        names.map_err(|error| self.unreadable(&error))
    }

    /// Writes the file of a block, which `integrate` integrates, with the samples that it shows. The parts of the block in datasets,
    /// which it returns, get their names before.
    pub(super) fn write(
        &self,
        block: u32,
        integrate: impl FnOnce(&mut SeeSamples<'_>) -> Result<(Block, Vec<WholeDraft>), Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let output = OutputFile::at(&self.file(block), Replace::Any)?;
        let refusal = |error: io::Error| output.refusal(&error);
        let mut file = Signed { file: output.begin().map_err(refusal)?, digest: Sha256::new() };
        let mut failure = None;
        let (integrated, parts) = integrate(&mut |member, samples| {
            if failure.is_none() {
                failure = file.push(&BlockPart::Samples(member, samples.to_vec())).err();
            }
        })?;
        if let Some(failure) = failure {
            return Err(refusal(failure));
        }
        let finish = || {
            let lengths = parts.iter().map(WholeDraft::length).collect::<Result<_, _>>()?;
            file.push(&BlockPart::Rest(integrated, lengths))?;
            let digest = file.digest.finalize();
            file.file.write_all(&digest)?;
            file.file.finish()
        };
        let whole = finish().map_err(refusal)?;
        publish(parts.into_iter().chain([whole]))
    }

    /// Reads the file of a block with these parts, and shows the samples of its members in their order; `None` if a file is damaged.
    pub(super) fn read(
        &self,
        block: u32,
        parts: &[PathBuf],
        see: &mut SeeSamples<'_>,
    ) -> Result<Option<Block>, Box<dyn Error>> {
        let length = |part: &PathBuf| fs::metadata(part).map_or(0, |file| file.len());
        let mut read = || {
            let mut file = BufReader::new(File::open(self.file(block))?);
            if !is_whole(&mut file)? {
                return Ok(None);
            }
            file.rewind()?;
            loop {
                match pull(&mut file)? {
                    BlockPart::Samples(member, samples) => see(member, &samples),
                    BlockPart::Rest(block, lengths) => {
                        return Ok(parts.iter().map(length).eq(lengths).then_some(block));
                    }
                }
            }
        };
        read().map_err(|error| self.unreadable(&error))
    }

    /// Removes the folder, and what it says of the ensemble last: until then it can be resumed.
    pub(super) fn remove(self) -> Result<(), Box<dyn Error>> {
        let names = self.names()?;
        let remove = || {
            for name in names.iter().filter(|name| *name != HEAD) {
                fs::remove_file(self.folder.join(name))?;
            }
            fs::remove_file(self.folder.join(HEAD))?;
            fs::remove_dir(&self.folder)
        };
        remove().map_err(|error| {
            format!("cannot remove {}: {}", self.folder.display(), reason(&error, "it is gone")).into()
        })
    }

    fn file(&self, block: u32) -> PathBuf {
        self.folder.join(format!("{BLOCK}{block}"))
    }

    fn unreadable(&self, error: &io::Error) -> Box<dyn Error> {
        format!("cannot read {}: {}", self.folder.display(), reason(error, "files of it are gone")).into()
    }
}

/// A file that is signed at its end.
struct Signed<W> {
    file: W,
    digest: Sha256,
}

impl<W: Write> Signed<W> {
    fn push(&mut self, part: &BlockPart) -> io::Result<()> {
        let part = postcard::to_stdvec(part).map_err(io::Error::other)?;
        for bytes in [&(part.len() as u64).to_le_bytes()[..], &part] {
            self.digest.update(bytes);
            self.file.write_all(bytes)?;
        }
        Ok(())
    }
}

/// Whether a file ends in the SHA-256 of what is before.
fn is_whole(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let length = file.seek(io::SeekFrom::End(0))?;
    file.rewind()?;
    let Some(length) = length.checked_sub(DIGEST) else { return Ok(false) };
    let mut digest = Sha256::new();
    io::copy(&mut file.by_ref().take(length), &mut digest)?;
    let mut signature = Vec::new();
    file.read_to_end(&mut signature)?;
    Ok(signature == digest.finalize().as_slice())
}

/// The next part of a file that is whole.
fn pull(file: &mut impl Read) -> io::Result<BlockPart> {
    let mut length = [0; 8];
    file.read_exact(&mut length)?;
    let mut part = Vec::new();
    file.take(u64::from_le_bytes(length)).read_to_end(&mut part)?;
    postcard::from_bytes(&part).map_err(io::Error::other)
}
