//! From words and options to inputs.

use std::os::unix::ffi::OsStringExt;

use beagle_trace::Source;

use super::*;

/// A directory to run in, with a `beagle.toml`.
struct Here {
    dir: tempfile::TempDir,
    config: Config,
}

impl Here {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        let config = Config::load(dir.path()).unwrap();
        Self { dir, config }
    }

    fn with(&self, options: InvocationOptions) -> Result<Invocation, Failure> {
        Invocation::new(&options, &self.config, self.dir.path(), b"p", None)
    }

    fn words(&self, words: &[&str]) -> Invocation {
        self.with(options(words)).unwrap()
    }

    fn refuses(&self, options: InvocationOptions) -> String {
        let failure = self.with(options).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        let text = format!("{failure}; {}", failure.hint());
        text.replace(self.dir.path().to_str().unwrap(), "[DIR]")
    }
}

fn options(words: &[&str]) -> InvocationOptions {
    InvocationOptions {
        words: words.iter().map(OsString::from).collect(),
        ..InvocationOptions::default()
    }
}

fn text(source: &Source) -> String {
    let kind = match source.kind {
        SourceKind::Argument => "argument",
        SourceKind::Environment => "variable",
        SourceKind::Stdin => "stdin",
        SourceKind::File => "file",
    };
    let name = source.name.escape_ascii();
    let bytes = source.bytes.escape_ascii();
    let varies = match (source.symbolic, source.pad) {
        (false, _) => "stays".to_owned(),
        (true, pad) => format!("varies +{pad}"),
    };
    format!("{kind} {name} \"{bytes}\" {varies}").replace("  ", " ")
}

/// The sources of the first seed, without the name of the program.
fn first(invocation: &Invocation) -> Vec<String> {
    invocation.seeds[0].sources[1..].iter().map(text).collect()
}

#[test]
fn words_stay_or_vary() {
    let invocation = Here::new(&[]).words(&["-v", "{ab}", "{ab:4}", "{}", "--n={x:8}", "{a}.c"]);
    assert_eq!(
        first(&invocation),
        [
            "argument \"-v\" stays",
            "argument \"ab\" varies +16",
            "argument \"ab\" varies +2",
            "argument \"\" varies +16",
            "argument \"--n=x\" varies +7",
            "argument \"a.c\" varies +0",
            "stdin \"\" varies +0",
        ]
    );
    assert!(!invocation.auto);
    let rules = &invocation.rules;
    assert_eq!(rules.arguments, Some(7));
    let sources: Vec<_> = rules
        .sources
        .iter()
        .map(|rule| (rule.source.clone(), rule.fixed.len(), rule.most))
        .collect();
    assert_eq!(
        sources,
        [
            (SourceKey::Argument(3), 0, Some(4)),
            (SourceKey::Argument(5), 4, Some(12)),
            (SourceKey::Argument(6), 2, Some(3)),
        ]
    );
    assert!(rules.allow(&invocation.seeds[0]));
    let mut other = invocation.seeds[0].clone();
    other.set_byte(6, 0, b'z').unwrap();
    assert!(rules.allow(&other));
    other.set_byte(6, 1, b'z').unwrap();
    assert!(!rules.allow(&other));
}

#[test]
fn all_words_vary_but_for_names_of_files() {
    let here = Here::new(&[("data", "x")]);
    let invocation = here
        .with(InvocationOptions {
            all_args: true,
            ..options(&["-v", "--n={x}", "@{data}"])
        })
        .unwrap();
    assert_eq!(
        first(&invocation)[..3],
        [
            "argument \"-v\" varies +16",
            "argument \"--n=x\" varies +16",
            "argument \"data\" stays",
        ]
    );
    assert_eq!(invocation.rules.sources, []);
}

#[test]
fn files_keep_their_names_where_they_can() {
    let here = Here::new(&[("sub/a.txt", "one"), ("a.txt", "two"), ("input", "three")]);
    let absolute = format!("@{{{}}}", here.dir.path().join("sub/a.txt").display());
    let invocation = here.words(&[
        "@{sub/a.txt}",
        "-i@{a.txt}",
        &absolute,
        "@{a.txt}",
        "@{input}",
    ]);
    assert_eq!(
        first(&invocation),
        [
            "argument \"sub/a.txt\" stays",
            "argument \"-ia.txt\" stays",
            "argument \"other-a.txt\" stays",
            "argument \"a.txt\" stays",
            "argument \"other-input\" stays",
            "stdin \"\" varies +0",
            "file a.txt \"two\" varies +0",
            "file other-a.txt \"one\" varies +0",
            "file other-input \"three\" varies +0",
            "file sub/a.txt \"one\" varies +0",
        ]
    );
}

#[test]
fn seeds_are_standard_input_or_the_file_of_a_word() {
    let here = Here::new(&[("seeds/1.js", "[]"), ("seeds/2.js", "{}"), ("in", "first")]);
    let with = |words: &[&str], stdin: Option<&str>| {
        let options = InvocationOptions {
            seeds: Some("seeds".into()),
            stdin: stdin.map(Into::into),
            ..options(words)
        };
        let invocation = here.with(options).unwrap();
        let seeds = invocation.seeds.iter();
        let seeds = seeds.map(|seed| seed.sources[1..].iter().map(text).collect::<Vec<_>>());
        seeds.map(|seed| seed.join(", ")).collect::<Vec<_>>()
    };
    assert_eq!(
        with(&[], None),
        ["stdin \"[]\" varies +0", "stdin \"{}\" varies +0"]
    );
    assert_eq!(with(&[], Some("in"))[0], "stdin \"first\" varies +0");
    assert_eq!(with(&[], Some("in")).len(), 3);
    assert_eq!(
        with(&["-f", "@@"], None)[1],
        "argument \"-f\" stays, argument \"input.js\" stays, stdin \"\" varies +0, \
         file input.js \"{}\" varies +0"
    );
    let without = here.words(&["@@"]);
    assert_eq!(first(&without)[2], "file input \"\" varies +0");
    assert_eq!(without.seeds.len(), 1);
}

#[test]
fn variables_stay_or_vary() {
    let invocation = Here::new(&[])
        .with(InvocationOptions {
            env: vec!["A=1".into(), "B={x:3}".into(), "A=2={y}".into()],
            ..options(&[])
        })
        .unwrap();
    assert!(invocation.auto);
    assert_eq!(
        first(&invocation),
        [
            "stdin \"a 1\\n\" varies +0",
            "variable B \"x\" varies +2",
            "variable A \"2=y\" varies +16",
        ]
    );
    assert!(
        invocation
            .seeds
            .iter()
            .all(|seed| invocation.rules.allow(seed))
    );
    assert_eq!(invocation.rules.arguments, None);
}

#[test]
fn the_command_line_comes_before_the_file() {
    let toml = "args = ['-f{1:4}', '@{data}']\nstdin = 'in'\nfixture = 'tree'\n[env]\nA = '{x}'\n";
    let here = Here::new(&[
        ("beagle.toml", toml),
        ("data", "d"),
        ("in", "i"),
        ("tree/x", ""),
    ]);
    let kept = here.words(&[]);
    assert_eq!(
        first(&kept),
        [
            "argument \"-f1\" varies +3",
            "argument \"data\" stays",
            "stdin \"i\" varies +0",
            "variable A \"x\" varies +16",
            "file data \"d\" varies +0",
        ]
    );
    assert_eq!(kept.fixture.unwrap(), here.dir.path().join("tree"));
    let given = InvocationOptions {
        stdin_text: Some("t".into()),
        env: vec!["B=b".into()],
        ..options(&["x"])
    };
    assert_eq!(
        first(&here.with(given).unwrap()),
        [
            "argument \"x\" stays",
            "stdin \"t\" varies +0",
            "variable B \"b\" stays",
        ]
    );
}

#[test]
fn words_need_not_be_text() {
    let mut options = options(&[]);
    options.words = vec![OsString::from_vec(vec![0xff, b'{', 0xfe, b'}'])];
    let invocation = Here::new(&[]).with(options).unwrap();
    assert_eq!(first(&invocation)[0], "argument \"\\xff\\xfe\" varies +16");
}

#[test]
fn what_cannot_be_done_is_refused_with_the_way_out() {
    let here = Here::new(&[("dir/x", "")]);
    let env = |text: &str| InvocationOptions {
        env: vec![text.into()],
        ..options(&[])
    };
    let mut refused: Vec<String> = ["{a:8}.txt", "{}.txt", "@{none}", "@{dir}", "{"]
        .map(|word| here.refuses(options(&[word])))
        .into();
    refused.extend(["A", "={x}", "A{B}=1", "A={"].map(|text| here.refuses(env(text))));
    refused.push(here.refuses(InvocationOptions {
        stdin: Some("none".into()),
        ..options(&[])
    }));
    refused.push(here.refuses(InvocationOptions {
        seeds: Some("none".into()),
        ..options(&[])
    }));
    refused.push(here.refuses(InvocationOptions {
        fixture: Some("dir/x".into()),
        ..options(&[])
    }));
    let toml = Here::new(&[("beagle.toml", "stdin = 'a'\nstdin_text = 'b'")]);
    refused.push(toml.refuses(options(&[])));
    let nul = Here::new(&[("beagle.toml", "args = [\"a\\u0000\"]")]);
    refused.push(nul.refuses(options(&[])));
    insta::assert_snapshot!(refused.join("\n"));
}
