//! The `ittsu` binary: everything is in the library.

/// Sending allocates and frees on every thread, thousands of times a second.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    ittsu::cli::main()
}
