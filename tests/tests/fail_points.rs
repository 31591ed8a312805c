//! The places where a test may stop a process are in no release build, whatever features it has.

use std::fs;
use std::process::Command;

use chancery_shared::fail_point::VARIABLE;
use chancery_tests::openssl::{Workbench, run};
use chancery_tests::programs::project;

/// Compiles a program that reaches a place; whether it could stop there.
fn can_stop(options: &[&str]) -> anyhow::Result<bool> {
    let bench = Workbench::new()?;
    let module = project().join("shared/src/fail_point.rs");
    let text = format!(
        "#[path = \"{}\"] mod fail_point;\n\
         fn main() {{ fail_point::arm(); fail_point::reach(\"a place\"); }}\n",
        module.display()
    );
    let source = bench.write("main.rs", text.as_bytes())?;
    let program = bench.path("program");
    let mut compiler = Command::new("rustc");
    compiler.args(["--edition", "2024", "--allow", "warnings"]).args(options);
    run(compiler.arg("-o").arg(&program).arg(source).current_dir(bench.path("")))?;
    // It has to know where to look.
    let variable = VARIABLE.as_bytes();
    Ok(fs::read(program)?.windows(variable.len()).any(|bytes| bytes == variable))
}

const FEATURE: &str = "feature=\"fail-points\"";

#[test]
fn only_a_build_with_the_feature_and_debug_assertions_has_fail_points() -> anyhow::Result<()> {
    for (options, expected) in [
        (&["--cfg", FEATURE][..], true),
        (&["--cfg", FEATURE, "-O"], false),
        (&["--cfg", FEATURE, "-C", "opt-level=3"], false),
        (&[], false),
    ] {
        assert_eq!(can_stop(options)?, expected, "{options:?}");
    }
    Ok(())
}

#[test]
fn no_program_asks_for_the_feature() -> anyhow::Result<()> {
    for manifest in ["signer", "api", "hsm-config", "shared"] {
        let text = fs::read_to_string(project().join(manifest).join("Cargo.toml"))?;
        let asks = text.lines().filter(|line| line.contains("fail-points"));
        assert_eq!(
            asks.collect::<Vec<_>>(),
            ["fail-points = []"].repeat(usize::from(manifest == "shared"))
        );
    }
    Ok(())
}
