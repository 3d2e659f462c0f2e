//! What the build script compiled and every instrumented program gets.

/// Helpers that are inlined, of the runtime.
pub const INLINE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/inline.bc"));
/// Helpers that are inlined, of this crate.
pub const COMPOSE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/compose.bc"));
/// Models of libc functions.
pub const MODELS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/models.bc"));
/// The rest of the runtime, a static library.
pub const RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime.a"));
/// The table of libc functions; see [`crate::table`].
pub const FUNCTIONS: &str = include_str!(concat!(env!("OUT_DIR"), "/functions.txt"));
/// The runtime of the fast lane, an object file.
pub const LANE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/lane.o"));
