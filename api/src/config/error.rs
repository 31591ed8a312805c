//! What is wrong with a configuration, line by line.

use std::fmt;
use std::path::PathBuf;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This line of the file.
    Line(usize),
    /// This environment variable.
    Variable(String),
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub origin: Origin,
    /// What, and what would pass.
    pub message: String,
}

/// Why the process does not start.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there and can't be read.
    #[error("{} can't be read", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Everything that is wrong, so that it is mended at one go.
    #[error("{}", Lines { path, problems })]
    Problems {
        /// The file.
        path: PathBuf,
        /// In the order of the file, the environment last.
        problems: Vec<Problem>,
    },
}

struct Lines<'a> {
    path: &'a PathBuf,
    problems: &'a [Problem],
}

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            match &problem.origin {
                Origin::Line(line) => write!(f, "{}, line {line}: ", self.path.display())?,
                Origin::Variable(name) => write!(f, "environment variable {name}: ")?,
            }
            f.write_str(&problem.message)?;
        }
        Ok(())
    }
}
