//! Functions that do something with a path: which file is meant is taken for granted, and with it the
//! result.

use core::ffi::{c_char, c_int, c_void};

use super::assume_path;
use crate::call::Call;
use crate::shadow;

mod real {
    use core::ffi::{c_char, c_int, c_void};

    unsafe extern "C" {
        pub fn access(path: *const c_char, mode: c_int) -> c_int;
        pub fn chdir(path: *const c_char) -> c_int;
        pub fn chmod(path: *const c_char, mode: u32) -> c_int;
        pub fn link(from: *const c_char, to: *const c_char) -> c_int;
        pub fn mkdir(path: *const c_char, mode: u32) -> c_int;
        pub fn mkfifo(path: *const c_char, mode: u32) -> c_int;
        pub fn opendir(path: *const c_char) -> *mut c_void;
        pub fn readlink(path: *const c_char, to: *mut c_char, n: usize) -> isize;
        pub fn remove(path: *const c_char) -> c_int;
        pub fn rename(from: *const c_char, to: *const c_char) -> c_int;
        pub fn rmdir(path: *const c_char) -> c_int;
        pub fn symlink(from: *const c_char, to: *const c_char) -> c_int;
        pub fn unlink(path: *const c_char) -> c_int;
    }
}

macro_rules! paths {
    ($($name:ident => $real:ident($path:ident $(, $other:ident: $type:ty)*) -> $result:ty;)*) => {$(
        #[doc = concat!("`", stringify!($real), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($path: *const c_char $(, $other: $type)*) -> $result {
            let mut call = Call::take($name as *const c_void);
            super::own::prepare(&call);
            assume_path(&call, 0, $path);
            let result = call.outside(|| real::$real($path $(, $other)*));
            call.result_id(0);
            result
        }
    )*};
}

paths! {
    bg_x_access => access(path, mode: c_int) -> c_int;
    bg_x_chdir => chdir(path) -> c_int;
    bg_x_chmod => chmod(path, mode: u32) -> c_int;
    bg_x_mkdir => mkdir(path, mode: u32) -> c_int;
    bg_x_mkfifo => mkfifo(path, mode: u32) -> c_int;
    bg_x_opendir => opendir(path) -> *mut c_void;
    bg_x_remove => remove(path) -> c_int;
    bg_x_rmdir => rmdir(path) -> c_int;
    bg_x_unlink => unlink(path) -> c_int;
}

macro_rules! pairs {
    ($($name:ident => $real:ident;)*) => {$(
        #[doc = concat!("`", stringify!($real), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(from: *const c_char, to: *const c_char) -> c_int {
            let call = Call::take($name as *const c_void);
            assume_path(&call, 0, from);
            assume_path(&call, 1, to);
            call.result_id(0);
            real::$real(from, to)
        }
    )*};
}

pairs! {
    bg_x_link => link;
    bg_x_rename => rename;
    bg_x_symlink => symlink;
}

/// `readlink`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_readlink(path: *const c_char, to: *mut c_char, n: usize) -> isize {
    let call = Call::take(bg_x_readlink as *const c_void);
    assume_path(&call, 0, path);
    let result = real::readlink(path, to, n);
    if call.recorded() && result > 0 {
        shadow::clear(to.cast(), result as usize);
    }
    call.result_id(0);
    result
}
