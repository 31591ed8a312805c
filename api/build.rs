//! Builds again when a migration changes: the macro that embeds them can't tell cargo.

fn main() {
    println!("cargo:rerun-if-changed=../migrations");
}
