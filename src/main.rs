//! The `ittsu` binary: everything is in the library.

fn main() -> std::process::ExitCode {
    ittsu::cli::main()
}
