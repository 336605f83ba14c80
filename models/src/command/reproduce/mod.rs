mod equations;
mod report;
mod result;
mod stroboscope;
