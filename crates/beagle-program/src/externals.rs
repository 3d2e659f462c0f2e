//! What functions outside of the program do to its memory and to the world.
//!
//! One line a function, in a small language; see [`Effects::parse`]. A function that is not listed
//! may do anything to all memory that it can get at, which is always safe and often imprecise.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// What a call of an external function does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// What it reads.
    pub reads: Touched,
    /// What it writes.
    pub writes: Touched,
    /// (to, from): copies memory from one argument's to another's.
    pub copies: Vec<(u32, u32)>,
    /// (to, from): stores one argument, a pointer, into another's memory.
    pub stores: Vec<(u32, u32)>,
    /// The arguments into whose memory it stores a pointer to fresh memory.
    pub fresh: Vec<u32>,
    /// State in which it keeps an argument, a pointer, for later calls.
    pub keeps: Option<(&'static str, u32)>,
    /// What its result points to.
    pub result: Points,
    /// The arguments that it may call.
    pub callbacks: Vec<u32>,
    /// Whether callbacks run later, at any time.
    pub calls_later: bool,
    /// Whether it shows something to the outside: prints, writes a file, ends with a status.
    pub is_output: bool,
    /// Whether it takes something from the outside.
    pub is_input: bool,
    /// Whether it never returns.
    pub exits: bool,
    /// Whether it may not return.
    pub may_exit: bool,
    /// Whether it reads and writes memory outside of the program that the program can see.
    pub touches_outside: bool,
    /// Whether nothing is known about it.
    pub is_unknown: bool,
}

/// The memory that an external function reads or writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    arguments: Vec<u32>,
    /// All arguments from this one on.
    from: Option<u32>,
    deep: Vec<u32>,
    /// State of the library, by name.
    pub states: Vec<&'static str>,
    /// State of the library with all that can be got at from there.
    pub deep_states: Vec<&'static str>,
}

impl Touched {
    /// Whether the memory that an argument points to is touched.
    pub fn contains(&self, argument: u32) -> bool {
        self.arguments.contains(&argument) || self.from.is_some_and(|from| argument >= from)
    }

    /// Whether all memory that can be got at through an argument is touched.
    pub fn contains_deep(&self, argument: u32) -> bool {
        self.deep.contains(&argument)
    }

    fn add(&mut self, text: &'static str) {
        match (text.strip_prefix('@'), text.strip_suffix('+')) {
            (Some(state), _) => self.states.push(state),
            (None, Some(from)) => self.from = from.parse().ok(),
            (None, None) => self.arguments.extend(text.parse::<u32>()),
        }
    }

    fn add_deep(&mut self, text: &'static str) {
        match text.strip_prefix('@') {
            Some(state) => self.deep_states.push(state),
            None => self.deep.extend(text.parse::<u32>()),
        }
    }
}

/// What the result of an external function points to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Points {
    /// It is no pointer, or points nowhere.
    #[default]
    Nowhere,
    /// To where an argument points, or to another element like that.
    Argument(u32),
    /// To some byte of the memory of an argument.
    Within(u32),
    /// To where a pointer in the memory of an argument points.
    Loaded(u32),
    /// To fresh memory.
    Fresh,
    /// To state of the library.
    State(&'static str),
    /// To where a pointer that the library has kept points.
    Kept(&'static str),
    /// To memory outside of the program.
    Outside,
}

/// The known functions. After the name:
///
/// - `rN` reads argument N's memory, `wN` writes it (`rN+`, `wN+`: N and all that follow); `RN` and
///   `WN` also follow the pointers there; `r@S` and the like are for state S of the library,
/// - `cN<M` copies M's memory to N's, `sN<M` stores M into N's memory, `s@S<M` keeps it in state S,
///   `nN` stores a pointer to fresh memory into N's,
/// - `=N` returns N or another element there, `=N+` a pointer to some byte of N's memory, `=*N` one
///   that is stored in N's memory, `=*@S` one that is kept in state S, `=@S` one to state S, `=new`
///   one to fresh memory, `=out` one to memory outside,
/// - `fN` may call N, `later` at any time,
/// - `output`, `input`, `exit` (never returns), `leave` (may not return), and `world` for what
///   changes variables of the library.
///
/// A file and its position are the memory behind its `FILE *`. What is printed is no state: nobody
/// can read it. Only calls whose failure programs look into set `errno` here.
const KNOWN: &str = "
malloc =new
calloc =new
realloc r0 =new c0<0
reallocarray r0 =new c0<0
aligned_alloc =new
posix_memalign w0 n0
strdup r0 =new
strndup r0 =new
free
memcpy r1 w0 c0<1 =0
memmove r1 w0 c0<1 =0
mempcpy r1 w0 c0<1 =0+
__memcpy_chk r1 w0 c0<1 =0
memset w0 =0
bzero w0
memcmp r0 r1
memchr r0 =0+
memrchr r0 =0+
memmem r0 r1 =0+
strlen r0
strnlen r0
strcpy r1 w0 c0<1 =0
strncpy r1 w0 c0<1 =0
stpcpy r1 w0 c0<1 =0+
strcat r0 r1 w0 c0<1 =0
strncat r0 r1 w0 c0<1 =0
strcmp r0 r1
strncmp r0 r1
strcasecmp r0 r1
strncasecmp r0 r1
strcoll r0 r1
strchr r0 =0+
strrchr r0 =0+
strchrnul r0 =0+
strstr r0 r1 =0+
strcasestr r0 r1 =0+
strpbrk r0 r1 =0+
strspn r0 r1
strcspn r0 r1
strtok r0 r1 w0 R@strtok W@strtok s@strtok<0 =*@strtok
strtok_r r0 r1 w0 R2 W2 s2<0 =*2
strsep r1 R0 W0 =*0
strerror =out
strsignal =out
strtol r0 w1 s1<0 w@errno
strtoul r0 w1 s1<0 w@errno
strtoll r0 w1 s1<0 w@errno
strtoull r0 w1 s1<0 w@errno
strtoimax r0 w1 s1<0 w@errno
strtoumax r0 w1 s1<0 w@errno
strtod r0 w1 s1<0 w@errno
strtof r0 w1 s1<0 w@errno
strtold r0 w1 s1<0 w@errno
__isoc23_strtol r0 w1 s1<0 w@errno
__isoc23_strtoul r0 w1 s1<0 w@errno
__isoc23_strtoll r0 w1 s1<0 w@errno
__isoc23_strtoull r0 w1 s1<0 w@errno
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
__errno_location =@errno
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
signal f1 later
sigaction r1 w2 f1 later
sigemptyset w0
sigaddset r0 w0
atexit f0 later
on_exit f0 later
getenv r0 r@environment =out input
secure_getenv r0 r@environment =out input
setenv r0 r1 w@environment
unsetenv r0 w@environment
getopt R1 r2 world input
getopt_long R1 r2 R3 w4 W3 world input
getopt_long_only R1 r2 R3 w4 W3 world input
printf r0+ output
vprintf r0 R1 output
fprintf r1+ w0 output
vfprintf r1 R2 w0 output
dprintf r1+ output
__printf_chk r1+ output
__vprintf_chk r1 R2 output
__fprintf_chk r2+ w0 output
__vfprintf_chk r2 R3 w0 output
sprintf r1+ w0
snprintf r2+ w0
vsprintf r1 R2 w0
vsnprintf r2 R3 w0
__sprintf_chk r3+ w0
__snprintf_chk r4+ w0
__vsnprintf_chk r4 R5 w0
asprintf r1+ w0 n0
vasprintf r1 R2 w0 n0
puts r0 output
putchar output
putchar_unlocked output
putc w1 output
putc_unlocked w1 output
fputc w1 output
fputc_unlocked w1 output
fputs r0 w1 output
fputs_unlocked r0 w1 output
fwrite r0 w3 output
fwrite_unlocked r0 w3 output
write r1 w@files w@errno output
pwrite r1 w@files w@errno output
writev R1 w@files output
send r1 w@files output
perror r0 r@errno output
error r2+ output leave
warn r0+ r@errno output
warnx r0+ output
err r1+ r@errno output exit
errx r1+ output exit
psignal r1 output
syslog r1+ output
fflush r0 output
fclose r0 w0 w@files output
pclose r0 w0 w@files input
close w@files w@errno output
ftruncate w@files output
unlink r0 w@files w@errno output
remove r0 w@files w@errno output
rename r0 r1 w@files w@errno output
mkdir r0 w@files w@errno output
rmdir r0 w@files w@errno output
chmod r0 w@files w@errno output
system r0 r@files w@files output input
popen r0 r1 r@files w@files =new output input
execv r0 R1 output leave
execvp r0 R1 output leave
kill output leave
raise output leave
fopen r0 r1 r@files w@files w@errno =new input
fdopen r1 r@files =new input
freopen r0 r1 r@files w2 w@errno =2 input
open r0 r@files w@files w@errno input
open64 r0 r@files w@files w@errno input
fopen64 r0 r1 r@files w@files w@errno =new input
creat r0 w@files w@errno output
tmpfile =new
mkstemp r0 w0 w@files output
fileno r0
dup r@files w@files
dup2 r@files w@files
pipe w0 w@files
read w1 r@files w@files w@errno input
pread w1 r@files w@errno input
readv R1 W1 r@files w@files input
recv w1 r@files w@files input
getc r0 w0 input
getc_unlocked r0 w0 input
fgetc r0 w0 input
fgetc_unlocked r0 w0 input
getchar r@stdin w@stdin input
getchar_unlocked r@stdin w@stdin input
ungetc w1
fgets r2 w0 w2 =0 input
fgets_unlocked r2 w0 w2 =0 input
gets w0 r@stdin w@stdin =0 input
getline r0 r1 r2 w1 w2 W0 n0 input
getdelim r0 r1 r3 w1 w3 W0 n0 input
__getdelim r0 r1 r3 w1 w3 W0 n0 input
fread r3 w0 w3 input
fread_unlocked r3 w0 w3 input
scanf r0 w1+ r@stdin w@stdin input
fscanf r0 r1 w0 w2+ input
sscanf r0 r1 w2+
vscanf r0 W1 r@stdin w@stdin input
vfscanf r0 r1 w0 W2 input
vsscanf r0 r1 W2
__isoc99_scanf r0 w1+ r@stdin w@stdin input
__isoc99_fscanf r0 r1 w0 w2+ input
__isoc99_sscanf r0 r1 w2+
__isoc23_scanf r0 w1+ r@stdin w@stdin input
__isoc23_fscanf r0 r1 w0 w2+ input
__isoc23_sscanf r0 r1 w2+
feof r0
ferror r0
feof_unlocked r0
ferror_unlocked r0
clearerr w0
fseek r0 w0
fseeko r0 w0
ftell r0
ftello r0
rewind r0 w0
lseek r@files w@files
setvbuf
setbuf
mmap r@files =out input
munmap
mprotect
stat r0 w1 r@files w@errno input
lstat r0 w1 r@files w@errno input
fstat w1 r@files w@errno input
access r0 r@files w@errno input
opendir r0 r@files w@errno =new input
readdir r0 w0 r@files =out input
closedir
getcwd w0 r@files =0 input
chdir r0 w@files w@errno output
isatty r@files input
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
rand r@random w@random input
srand w@random
random r@random w@random input
srandom w@random
sysconf input
umask r@files w@files
usleep
sleep
nanosleep r0
sqrt w@errno
pow w@errno
exp w@errno
exp2 w@errno
log w@errno
log2 w@errno
log10 w@errno
sin
cos
tan
asin w@errno
acos w@errno
atan
atan2
sinh w@errno
cosh w@errno
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
sqrtf w@errno
floorf
ceilf
roundf
fmod w@errno
fmodf w@errno
hypot
cbrt
modf w1
frexp w1
ldexp w@errno
fmin
fmax
copysign
nan r0
lgamma
tgamma w@errno
exit output exit
_exit output exit
_Exit output exit
quick_exit output exit
abort output exit
__assert_fail r0 r1 r3 output exit
__assert r0 r1 output exit
__stack_chk_fail output exit
longjmp r0 w@jump exit
siglongjmp r0 w@jump exit
_longjmp r0 w@jump exit
__longjmp_chk r0 w@jump exit
setjmp w0 r@jump
_setjmp w0 r@jump
sigsetjmp w0 r@jump
__sigsetjmp w0 r@jump
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
llvm.eh.sjlj.longjmp w@jump exit
llvm.eh.sjlj.setjmp w0 r@jump
llvm.frameaddress =out
llvm.returnaddress =out
llvm.ptrmask =0
llvm.launder =0
llvm.strip =0
llvm.threadlocal.address =0
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
        functions
            .get(symbol)
            .cloned()
            .unwrap_or_else(Effects::unknown)
    }

    /// What a function does about which nothing is known.
    pub fn unknown() -> Effects {
        let mut effects = Effects {
            result: Points::Outside,
            touches_outside: true,
            is_unknown: true,
            ..Effects::default()
        };
        effects.reads.from = Some(0);
        effects.writes.from = Some(0);
        effects
    }

    /// Reads the words after a name in the table. Unknown words are a mistake in the table, which a
    /// test finds.
    fn parse(text: &'static str) -> Effects {
        let mut effects = Effects::default();
        for word in text.split_whitespace() {
            let (kind, rest) = word.split_at(1);
            match (word, kind) {
                ("output", _) => effects.is_output = true,
                ("input", _) => effects.is_input = true,
                ("exit", _) => effects.exits = true,
                ("leave", _) => effects.may_exit = true,
                ("world", _) => effects.touches_outside = true,
                ("later", _) => effects.calls_later = true,
                (_, "=") => effects.result = result(rest),
                (_, "r") => effects.reads.add(rest),
                (_, "w") => effects.writes.add(rest),
                (_, "R") => effects.reads.add_deep(rest),
                (_, "W") => effects.writes.add_deep(rest),
                (_, "c") => effects.copies.extend(two(rest)),
                (_, "s") => match kept(rest) {
                    Some(kept) => effects.keeps = Some(kept),
                    None => effects.stores.extend(two(rest)),
                },
                (_, "n") => effects.fresh.extend(rest.parse::<u32>()),
                (_, "f") => effects.callbacks.extend(rest.parse::<u32>()),
                _ => effects.is_unknown = true,
            }
        }
        effects
    }
}

fn result(text: &'static str) -> Points {
    let number = |text: &str| text.parse().ok();
    let parsed = match (text, text.strip_prefix('*'), text.strip_suffix('+')) {
        ("new", ..) => Some(Points::Fresh),
        (_, Some(text), _) => match text.strip_prefix('@') {
            Some(state) => Some(Points::Kept(state)),
            None => number(text).map(Points::Loaded),
        },
        (_, _, Some(text)) => number(text).map(Points::Within),
        _ => match text.strip_prefix('@') {
            Some(state) => Some(Points::State(state)),
            None => number(text).map(Points::Argument),
        },
    };
    parsed.unwrap_or(Points::Outside)
}

fn kept(text: &'static str) -> Option<(&'static str, u32)> {
    let (state, from) = text.strip_prefix('@')?.split_once('<')?;
    Some((state, from.parse().ok()?))
}

fn two(text: &str) -> Option<(u32, u32)> {
    let (to, from) = text.split_once('<')?;
    Some((to.parse().ok()?, from.parse().ok()?))
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
        let strtok = Effects::of("strtok");
        assert_eq!(strtok.keeps, Some(("strtok", 0)));
        assert_eq!(strtok.result, Points::Kept("strtok"));
        assert_eq!(Effects::of("strchr").result, Points::Within(0));
        assert_eq!(Effects::of("strsep").result, Points::Loaded(0));
        assert_eq!(Effects::of("errno").result, Points::Outside);
    }

    #[test]
    fn a_function_that_is_not_listed_may_do_anything() {
        let effects = Effects::of("frobnicate");
        assert!(effects.is_unknown && effects.writes.contains(7));
        assert!(!Effects::of("llvm.ctpop.i32").is_unknown);
    }
}
