//! What functions outside of the program do to its memory and to the world.
//!
//! One line a function, in a small language; see [`Effects::parse`]. A function that is not listed
//! may do anything to all memory that it can get at, which is always safe and often imprecise.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// What a call of an external function does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The arguments whose memory it reads.
    pub reads: Arguments,
    /// The arguments whose memory it writes.
    pub writes: Arguments,
    /// (to, from): copies memory from one argument's to another's.
    pub copies: Vec<(u32, u32)>,
    /// (to, from): stores one argument, a pointer, into another's memory.
    pub stores: Vec<(u32, u32)>,
    /// What its result points to.
    pub result: Points,
    /// The arguments that it may call.
    pub callbacks: Vec<u32>,
    /// Whether it shows something to the outside: prints, writes a file, ends with a status.
    pub is_output: bool,
    /// Whether it takes something from the outside.
    pub is_input: bool,
    /// Whether it never returns.
    pub exits: bool,
    /// Whether nothing is known about it.
    pub is_unknown: bool,
}

/// A set of arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    listed: Vec<u32>,
    /// All from this one on.
    from: Option<u32>,
}

impl Arguments {
    /// Whether an argument is in the set.
    pub fn contains(&self, argument: u32) -> bool {
        self.listed.contains(&argument) || self.from.is_some_and(|from| argument >= from)
    }
}

/// What the result of an external function points to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Points {
    /// It is no pointer, or points nowhere.
    #[default]
    Nowhere,
    /// Into the memory of an argument.
    Argument(u32),
    /// To fresh memory.
    Fresh,
    /// To memory outside of the program.
    Outside,
}

/// The known functions. After the name: `rN` reads argument N's memory, `wN` writes it (`rN+`,
/// `wN+`: N and all that follow), `cN<M` copies M's memory to N's, `sN<M` stores M into N's memory,
/// `=N` returns a pointer into N's memory, `=new` to fresh memory, `=out` to memory outside, `fN`
/// may call N, `output`, `input`, `exit`.
const KNOWN: &str = "
malloc =new
calloc =new
realloc =new c0<0
reallocarray =new c0<0
aligned_alloc =new
posix_memalign w0
strdup r0 =new
strndup r0 =new
free
memcpy r1 w0 c0<1 =0
memmove r1 w0 c0<1 =0
mempcpy r1 w0 c0<1 =0
__memcpy_chk r1 w0 c0<1 =0
memset w0 =0
bzero w0
memcmp r0 r1
memchr r0 =0
memrchr r0 =0
memmem r0 r1 =0
strlen r0
strnlen r0
strcpy r1 w0 c0<1 =0
strncpy r1 w0 c0<1 =0
stpcpy r1 w0 c0<1 =0
strcat r0 r1 w0 c0<1 =0
strncat r0 r1 w0 c0<1 =0
strcmp r0 r1
strncmp r0 r1
strcasecmp r0 r1
strncasecmp r0 r1
strcoll r0 r1
strchr r0 =0
strrchr r0 =0
strchrnul r0 =0
strstr r0 r1 =0
strcasestr r0 r1 =0
strpbrk r0 r1 =0
strspn r0 r1
strcspn r0 r1
strtok r0 r1 w0 =0
strtok_r r0 r1 r2 w0 w2 s2<0 =0
strsep r0 r1 w0 =out
strerror =out
strsignal =out
strtol r0 w1 s1<0
strtoul r0 w1 s1<0
strtoll r0 w1 s1<0
strtoull r0 w1 s1<0
strtoimax r0 w1 s1<0
strtoumax r0 w1 s1<0
strtod r0 w1 s1<0
strtof r0 w1 s1<0
strtold r0 w1 s1<0
__isoc23_strtol r0 w1 s1<0
__isoc23_strtoul r0 w1 s1<0
__isoc23_strtoll r0 w1 s1<0
__isoc23_strtoull r0 w1 s1<0
atoi r0
atol r0
atoll r0
atof r0
abs
labs
llabs
div
ldiv
isalnum
isalpha
isascii
isblank
iscntrl
isdigit
isgraph
islower
isprint
ispunct
isspace
isupper
isxdigit
tolower
toupper
__ctype_b_loc =out
__ctype_tolower_loc =out
__ctype_toupper_loc =out
__errno_location =out
setlocale r1 =out
nl_langinfo =out
localeconv =out
gettext r0 =0
dcgettext r1 =1
bindtextdomain
textdomain
qsort r0 w0 f3
bsearch r0 r1 =1 f4
lfind r0 r1 r2 =1 f4
signal f1
sigaction r1 w2
sigemptyset w0
sigaddset r0 w0
atexit f0
on_exit f0
getenv r0 =out input
secure_getenv r0 =out input
setenv r0 r1
unsetenv r0
getopt r1 r2 =out input
getopt_long r1 r2 r3 w4 =out input
getopt_long_only r1 r2 r3 w4 =out input
printf r0+ output
vprintf r0+ output
fprintf r1+ output
vfprintf r1+ output
dprintf r1+ output
__printf_chk r1+ output
__fprintf_chk r2+ output
sprintf r1+ w0
snprintf r2+ w0
vsprintf r1+ w0
vsnprintf r2+ w0
__sprintf_chk r3+ w0
__snprintf_chk r4+ w0
asprintf r1+ w0 s0<1
vasprintf r1+ w0 s0<1
puts r0 output
putchar output
putchar_unlocked output
putc output
putc_unlocked output
fputc output
fputc_unlocked output
fputs r0 output
fputs_unlocked r0 output
fwrite r0 output
fwrite_unlocked r0 output
write r1 output
pwrite r1 output
writev r1 output
send r1 output
perror r0 output
error r2+ output
warn r0+ output
warnx r0+ output
err r1+ output exit
errx r1+ output exit
psignal r1 output
syslog r1+ output
fflush output
fclose output
close output
ftruncate output
unlink r0 output
remove r0 output
rename r0 r1 output
mkdir r0 output
rmdir r0 output
chmod r0 output
system r0 output input
popen r0 r1 =out output input
execv r0 r1 output exit
execvp r0 r1 output exit
kill output
raise output
fopen r0 r1 =out input
fdopen r1 =out input
freopen r0 r1 =out input
open r0 input
open64 r0 input
fopen64 r0 r1 =out input
creat r0 output
tmpfile =out
mkstemp r0 w0 output
fileno
dup
dup2
pipe w0
read w1 r0 input
pread w1 input
readv r1 w1 input
recv w1 input
getc r0 w0 input
getc_unlocked r0 w0 input
fgetc r0 w0 input
fgetc_unlocked r0 w0 input
getchar input
getchar_unlocked input
ungetc w1
fgets r2 w0 w2 =0 input
fgets_unlocked r2 w0 w2 =0 input
gets w0 =0 input
getline r0 r1 r2 w0 w1 w2 input
getdelim r0 r1 r3 w0 w1 w3 input
__getdelim r0 r1 r3 w0 w1 w3 input
fread r3 w0 w3 input
fread_unlocked r3 w0 w3 input
scanf r0 w1+ input
fscanf r0 r1 w0 w2+ input
sscanf r0 r1 w2+
__isoc99_scanf r0 w1+ input
__isoc99_fscanf r0 r1 w0 w2+ input
__isoc99_sscanf r0 r1 w2+
__isoc23_scanf r0 w1+ input
__isoc23_fscanf r0 r1 w0 w2+ input
__isoc23_sscanf r0 r1 w2+
feof r0
ferror r0
feof_unlocked r0
ferror_unlocked r0
clearerr w0
fseek w0
fseeko w0
ftell r0
ftello r0
rewind w0
lseek
setvbuf
setbuf
mmap =out input
munmap
mprotect
stat r0 w1 input
lstat r0 w1 input
fstat w1 input
access r0 input
opendir r0 =out input
readdir =out input
closedir
getcwd w0 =0 input
chdir r0 output
isatty input
time w0 input
clock input
gettimeofday w0 input
clock_gettime w1 input
localtime r0 =out
gmtime r0 =out
localtime_r r0 w1 =1
gmtime_r r0 w1 =1
mktime r0 w0
strftime r2 r3 w0
ctime r0 =out
asctime r0 =out
difftime
getpid input
getppid input
getuid input
geteuid input
rand input
srand
random input
srandom
sysconf input
umask
usleep
sleep
nanosleep r0
sqrt
pow
exp
exp2
log
log2
log10
sin
cos
tan
asin
acos
atan
atan2
sinh
cosh
tanh
floor
ceil
round
lround
llround
rint
lrint
nearbyint
trunc
fabs
fabsf
sqrtf
floorf
ceilf
roundf
fmod
fmodf
hypot
cbrt
modf w1
frexp w1
ldexp
fmin
fmax
copysign
nan r0
lgamma
tgamma
exit output exit
_exit output exit
_Exit output exit
quick_exit output exit
abort output exit
__assert_fail r0 r1 r3 output exit
__assert r0 r1 output exit
__stack_chk_fail output exit
longjmp exit
siglongjmp exit
_longjmp exit
__longjmp_chk exit
setjmp w0
_setjmp w0
sigsetjmp w0
__sigsetjmp w0
";

/// LLVM's own operations that matter to memory, by the start of their name; the others only
/// compute.
const INTRINSICS: &str = "
llvm.memcpy r1 w0 c0<1
llvm.memmove r1 w0 c0<1
llvm.memset w0
llvm.va_start w0
llvm.va_copy r1 w0 c0<1
llvm.stacksave =out
llvm.trap output exit
llvm.debugtrap output
";

fn table(text: &'static str) -> FxHashMap<&'static str, Effects> {
    let lines = text
        .lines()
        .filter_map(|line| line.split_once(' ').or(Some((line, ""))));
    lines
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, effects)| (name, Effects::parse(effects)))
        .collect()
}

impl Effects {
    /// What is known about the function of that name.
    pub fn of(symbol: &str) -> Effects {
        static FUNCTIONS: OnceLock<FxHashMap<&str, Effects>> = OnceLock::new();
        static OPERATIONS: OnceLock<FxHashMap<&str, Effects>> = OnceLock::new();
        if symbol.starts_with("llvm.") {
            let operations = OPERATIONS.get_or_init(|| table(INTRINSICS));
            let found = operations
                .iter()
                .find(|(name, _)| symbol.starts_with(*name));
            return found
                .map(|(_, effects)| effects.clone())
                .unwrap_or_default();
        }
        let functions = FUNCTIONS.get_or_init(|| table(KNOWN));
        functions.get(symbol).cloned().unwrap_or_else(|| Effects {
            is_unknown: true,
            reads: Arguments::all(),
            writes: Arguments::all(),
            result: Points::Outside,
            ..Effects::default()
        })
    }

    /// Reads the words after a name in the table. Unknown words are a mistake in the table, which a
    /// test finds.
    fn parse(text: &str) -> Effects {
        let mut effects = Effects::default();
        for word in text.split_whitespace() {
            let (kind, rest) = word.split_at(1);
            match (word, kind) {
                ("output", _) => effects.is_output = true,
                ("input", _) => effects.is_input = true,
                ("exit", _) => effects.exits = true,
                ("=new", _) => effects.result = Points::Fresh,
                ("=out", _) => effects.result = Points::Outside,
                (_, "=") => effects.result = rest.parse().map_or(Points::Outside, Points::Argument),
                (_, "r") => effects.reads.add(rest),
                (_, "w") => effects.writes.add(rest),
                (_, "c") => effects.copies.extend(two(rest)),
                (_, "s") => effects.stores.extend(two(rest)),
                (_, "f") => effects.callbacks.extend(rest.parse::<u32>()),
                _ => effects.is_unknown = true,
            }
        }
        effects
    }
}

fn two(text: &str) -> Option<(u32, u32)> {
    let (to, from) = text.split_once('<')?;
    Some((to.parse().ok()?, from.parse().ok()?))
}

impl Arguments {
    fn all() -> Self {
        Arguments {
            listed: Vec::new(),
            from: Some(0),
        }
    }

    fn add(&mut self, text: &str) {
        match text.strip_suffix('+') {
            Some(from) => self.from = from.parse().ok(),
            None => self.listed.extend(text.parse::<u32>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_no_unknown_words_and_no_name_twice() {
        for text in [KNOWN, INTRINSICS] {
            let names: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
            let table = table(text);
            assert_eq!(table.len(), names.len());
            for (name, effects) in table {
                assert!(!effects.is_unknown, "{name}");
            }
        }
    }

    #[test]
    fn lines_are_read_as_written() {
        let strtol = Effects::of("strtol");
        assert!(strtol.reads.contains(0) && !strtol.reads.contains(1));
        assert_eq!(strtol.stores, [(1, 0)]);
        let printf = Effects::of("printf");
        assert!(printf.is_output && printf.reads.contains(5));
        assert_eq!(Effects::of("qsort").callbacks, [3]);
        assert!(Effects::of("exit").exits);
    }

    #[test]
    fn a_function_that_is_not_listed_may_do_anything() {
        let effects = Effects::of("frobnicate");
        assert!(effects.is_unknown && effects.writes.contains(7));
        assert!(!Effects::of("llvm.ctpop.i32").is_unknown);
    }
}
