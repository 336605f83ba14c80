//! ZIP archives of files that are stored as they are (PKWARE's APPNOTE 6.3.3): what an FMU is wrapped in.

/// The signatures of what an archive consists of.
const FILE: u32 = 0x0403_4b50;
const ENTRY: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// The version that is needed to extract files in folders.
const VERSION: u16 = 20;
/// The first of January 1980, so that equal models have equal archives.
const DATE: u16 = 1 << 5 | 1;
/// The comment by which fbint recognises its archives.
pub(crate) const COMMENT: &str = "written by fbint";

/// An archive of files with their paths.
///
/// # Errors
///
/// If it would be longer than 4 GiB, or have more than 65535 files.
pub(crate) fn archive(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, std::num::TryFromIntError> {
    let (mut archive, mut entries) = (Vec::new(), Vec::new());
    for (path, bytes) in files {
        let place = u32::try_from(archive.len())?;
        let about = about(path, bytes)?;
        archive.extend(FILE.to_le_bytes());
        archive.extend(&about);
        archive.extend(path.bytes());
        archive.extend(bytes);
        entries.extend(ENTRY.to_le_bytes());
        entries.extend(VERSION.to_le_bytes());
        entries.extend(about);
        // No comment, the first disk, no attributes.
        entries.extend([0; 10]);
        entries.extend(place.to_le_bytes());
        entries.extend(path.bytes());
    }
    let (count, start, length) =
        (u16::try_from(files.len())?, u32::try_from(archive.len())?, u32::try_from(entries.len())?);
    archive.extend(entries);
    archive.extend(END.to_le_bytes());
    archive.extend([0; 4]);
    archive.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    archive.extend([length.to_le_bytes(), start.to_le_bytes()].concat());
    archive.extend(u16::try_from(COMMENT.len())?.to_le_bytes());
    archive.extend(COMMENT.bytes());
    Ok(archive)
}

/// The fields that a file and its entry share: version, flags, method, time, date, checksum, lengths.
fn about(path: &str, bytes: &[u8]) -> Result<Vec<u8>, std::num::TryFromIntError> {
    let (checksum, length) = (crc32fast::hash(bytes).to_le_bytes(), u32::try_from(bytes.len())?.to_le_bytes());
    let [flags, method, time] = [0_u16; 3];
    let head: Vec<u8> = [VERSION, flags, method, time, DATE].iter().flat_map(|number| number.to_le_bytes()).collect();
    let (name, extra) = (u16::try_from(path.len())?.to_le_bytes(), [0; 2]);
    Ok([&head[..], &checksum, &length, &length, &name, &extra].concat())
}
