//! Entries other than `main`: fuzz targets and single functions.
//!
//! A file with a fuzz target gets a driver with a weak `main`. For a single function a harness is
//! written: the source comes first, with its own `main` under another name, so that static
//! functions and all types are there; then a `main` that reads the arguments from standard input,
//! calls the function, and prints its result and what it wrote through its pointers.
//!
//! The input has a fixed layout: each argument takes as many bytes as its type has, a text 32, a
//! buffer one byte for its length and then 32 elements.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::Value;

use crate::error::Doing;
use crate::options::accept_old_dialects;
use crate::process::Run;
use crate::record::replace;
use crate::signature::{Declarations, Kind, Parameter, Signature, Type};
use crate::single::Single;
use crate::{BuildError, Cache};

const DRIVER: &str = include_str!("../c/driver.c");
const HEADER: &str = include_str!("../c/beagle.h");
const PRELUDE: &str = include_str!("../c/harness.c");
/// The function that makes a fuzz target of a file.
const TARGET: &str = "LLVMFuzzerTestOneInput";
/// Bytes of the input for a text, and elements for a buffer; `c/harness.c` says so, too.
const BUFFER: usize = 32;
/// Room behind a text that the function may write to.
const ROOM: usize = 256;

impl Cache {
    /// The directory with `beagle.h` and the driver for fuzz targets.
    pub(crate) fn entries(&self) -> Result<PathBuf, BuildError> {
        let dir = self.root.join("tools/entries");
        self.provide(&dir.join("beagle.h"), HEADER)?;
        self.provide(&dir.join("driver.c"), DRIVER)?;
        Ok(dir)
    }

    fn provide(&self, path: &std::path::Path, text: &str) -> Result<(), BuildError> {
        if std::fs::read(path).is_ok_and(|there| there == text.as_bytes()) {
            return Ok(());
        }
        replace(text.as_bytes(), path).doing(|| format!("write {}", path.display()))
    }
}

/// Whether a source has a fuzz target, and so needs the driver.
pub(crate) fn is_fuzz_target(source: &[u8]) -> bool {
    let name = TARGET.as_bytes();
    source.windows(name.len()).any(|window| window == name)
}

/// Writes the harness for a function of a file. It has the same name for all versions in which
/// the function looks the same. There is none if the file does not compile.
pub(crate) fn harness(single: &Single, function: &str) -> Result<Option<PathBuf>, BuildError> {
    let Some(dump) = dump(single)? else {
        return Ok(None);
    };
    let declarations = Declarations::of(&dump);
    let label = || single.task.label.to_owned();
    let signature = declarations
        .signature(function)
        .ok_or_else(|| BuildError::NoFunction {
            label: label(),
            function: function.into(),
            known: declarations.functions(),
        })?;
    let text = text(function, &signature).map_err(|what| BuildError::NoHarness {
        label: label(),
        function: function.into(),
        what,
    })?;
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let dir = single.task.cache.root.join("tools").join("harness");
    let path = dir.join(&hash.as_str()[..12]).join("harness.c");
    single.task.cache.provide(&path, &text)?;
    Ok(Some(path))
}

/// What clang knows about the source, if it compiles.
fn dump(single: &Single) -> Result<Option<Value>, BuildError> {
    let run = Run::new(&single.task.tools.clang)
        .args(["-fsyntax-only", "-w", "-Xclang", "-ast-dump=json"])
        .args(accept_old_dialects())
        .args(single.compile_args()?);
    let result = run.capture().doing(|| "run clang".into())?;
    let dump = serde_json::from_slice(&result.stdout).ok();
    Ok(dump.filter(|_| result.status.success()))
}

/// The source of the harness, or what cannot be made up.
fn text(function: &str, signature: &Signature) -> Result<String, String> {
    if function == "main" {
        return Err("that is where the program starts anyway".into());
    }
    let mut body = String::new();
    let mut sizes = vec!["0".to_owned()];
    let mut after = String::new();
    let mut arguments = Vec::new();
    let mut parameters = signature.parameters.iter().enumerate().peekable();
    while let Some((number, parameter)) = parameters.next() {
        let variable = format!("beagle_{number}");
        arguments.push(variable.clone());
        let Kind::Pointer(target) = &parameter.ty.kind else {
            body += &value(&variable, parameter)?;
            sizes.push(format!("sizeof({})", parameter.ty.text));
            continue;
        };
        let counted = |(_, next): &(usize, &Parameter)| is_length(next, target);
        let counted = parameters.peek().is_some_and(counted);
        if counted && let Some((number, length)) = parameters.next() {
            let count = format!("beagle_{number}");
            body += &buffer(&variable, parameter, target, &count, length)?;
            after += &show_buffer(&variable, parameter, target, &count);
            arguments.push(count);
            sizes.push(format!("1 + {BUFFER} * {}", size_of(target)));
        } else {
            body += &pointer(&variable, parameter, target)?;
            after += &show_target(&variable, parameter, target);
            sizes.push(match target.kind {
                Kind::Char => BUFFER.to_string(),
                _ => size_of(target),
            });
        }
    }
    let call = format!("{function}({})", arguments.join(", "));
    let call = result(&call, &signature.result);
    Ok(format!(
        "{PRELUDE}int main(void) {{\n    \
         if (!beagle_read({})) return 0;\n\
         {body}{call}{after}    return 0;\n}}\n",
        sizes.join(" + ")
    ))
}

/// An argument that is no pointer.
fn value(variable: &str, parameter: &Parameter) -> Result<String, String> {
    let ty = &parameter.ty.text;
    Ok(match parameter.ty.kind {
        // Not all bytes are values.
        Kind::Bool => format!(
            "    unsigned char {variable};\n    beagle_take(&{variable}, 1);\n    \
             {variable} &= 1;\n"
        ),
        Kind::Char | Kind::Integer | Kind::Real | Kind::Record => {
            format!("    {ty} {variable};\n    beagle_take(&{variable}, sizeof {variable});\n")
        }
        _ => return Err(unsupported(parameter)),
    })
}

/// A pointer to a text, or to one thing.
fn pointer(variable: &str, parameter: &Parameter, target: &Type) -> Result<String, String> {
    let ty = &parameter.ty.text;
    Ok(match target.kind {
        Kind::Char => {
            let room = if target.constant { 0 } else { ROOM };
            format!("    {ty} {variable} = ({ty})beagle_text({room});\n")
        }
        Kind::Bool | Kind::Integer | Kind::Real | Kind::Record => {
            let target = &target.text;
            format!(
                "    {target} *{variable} = malloc(sizeof *{variable});\n    \
                 beagle_take({variable}, sizeof *{variable});\n"
            )
        }
        _ => return Err(unsupported(parameter)),
    })
}

/// A buffer and its length.
fn buffer(
    variable: &str,
    parameter: &Parameter,
    target: &Type,
    count: &str,
    length: &Parameter,
) -> Result<String, String> {
    let ty = &parameter.ty.text;
    let size = match target.kind {
        Kind::Void | Kind::Char | Kind::Integer | Kind::Real | Kind::Record => size_of(target),
        _ => return Err(unsupported(parameter)),
    };
    let length = &length.ty.text;
    Ok(format!(
        "    {length} {count} = beagle_count();\n    \
         {ty} {variable} = beagle_buffer({count}, {size});\n"
    ))
}

/// The size of an element, in C.
fn size_of(ty: &Type) -> String {
    match ty.kind {
        Kind::Void => "1".into(),
        _ => format!("sizeof({})", ty.text),
    }
}

fn unsupported(parameter: &Parameter) -> String {
    let Parameter { name, ty } = parameter;
    format!("there is no way to make up a `{}` for `{name}`", ty.text)
}

/// Prints what the function may have written.
fn show_target(variable: &str, parameter: &Parameter, target: &Type) -> String {
    let name = &parameter.name;
    if target.constant {
        String::new()
    } else if target.kind == Kind::Char {
        format!("    BEAGLE_TEXT(\"{name}\", {variable});\n")
    } else {
        show(&format!("*{name}"), &format!("*{variable}"), target)
    }
}

/// Prints what the function may have written, element by element.
fn show_buffer(variable: &str, parameter: &Parameter, target: &Type, count: &str) -> String {
    if target.constant {
        return String::new();
    }
    let name = &parameter.name;
    let (element, ty) = match target.kind {
        Kind::Void => {
            let bytes = Type {
                text: "unsigned char".into(),
                kind: Kind::Char,
                constant: false,
            };
            (format!("((unsigned char *){variable})[beagle_i]"), bytes)
        }
        _ => (format!("{variable}[beagle_i]"), target.clone()),
    };
    let mut text = format!("    for (size_t beagle_i = 0; beagle_i < {count}; beagle_i++)\n");
    let _ = write!(text, "    {}", show(&format!("{name}[]"), &element, &ty));
    text
}

/// Calls the function and prints what it returns.
fn result(call: &str, ty: &Type) -> String {
    let text = &ty.text;
    let shown = match &ty.kind {
        Kind::Void => return format!("    {call};\n    printf(\"returned\\n\");\n"),
        Kind::Pointer(target) if target.kind == Kind::Char => {
            "    BEAGLE_TEXT(\"return\", beagle_result);\n".into()
        }
        Kind::Pointer(_) => {
            "    printf(\"return = %s\\n\", beagle_result ? \"a pointer\" : \"null\");\n".into()
        }
        // Nothing of it can be shown, but its effects can.
        Kind::Other => return format!("    (void){call};\n    printf(\"returned\\n\");\n"),
        _ => show("return", "beagle_result", ty),
    };
    format!("    {text} beagle_result = {call};\n{shown}")
}

fn show(name: &str, value: &str, ty: &Type) -> String {
    let text = &ty.text;
    match ty.kind {
        Kind::Real => format!("    BEAGLE_REAL(\"{name}\", {value});\n"),
        Kind::Record => format!("    BEAGLE_RECORD(\"{name}\", &({value}));\n"),
        _ => format!("    BEAGLE_INTEGER(\"{name}\", {text}, {value});\n"),
    }
}

/// Whether a parameter behind a pointer says how much is there.
fn is_length(parameter: &Parameter, target: &Type) -> bool {
    const SURE: [&str; 5] = ["len", "length", "size", "sz", "bytes"];
    const LIKELY: [&str; 5] = ["n", "num", "count", "cnt", "nmemb"];
    let name = parameter.name.to_ascii_lowercase();
    let sure = parameter.ty.text == "size_t" || SURE.iter().any(|end| name.ends_with(end));
    let likely = LIKELY.contains(&&*name) || name.ends_with("count");
    // A text ends by itself, and a number behind it may be about anything.
    parameter.ty.kind == Kind::Integer && (sure || likely && target.text != "char")
}
