//! The report for machines: complete, and in agreement with the one for people.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::Scratch;

const OLD: &str = "\
#include <stdio.h>
static int limit = 3;
static int gone(int x) { return x - 1; }
int main(int argc, char **argv)
{
    if (argc > limit)
        puts(\"many\");
    return gone(argc);
}
";

fn pair() -> Scratch {
    let new = OLD
        .replace("limit = 3", "limit = 4")
        .replace("static int gone(int x) { return x - 1; }\n", "")
        .replace("return gone(argc)", "return argc * 2");
    Scratch::with(&[("old.c", OLD), ("new.c", &new)])
}

#[test]
fn the_whole_of_it() {
    let ran = pair()
        .beagle("changes old.c new.c -q --format json")
        .exits(1);
    assert_eq!(ran.json()["schema"], "beagle.changes/1");
    assert_snapshot!(ran.stdout);
}

#[test]
fn an_identical_pair_has_the_same_fields() {
    let scratch = pair();
    let ran = scratch
        .beagle("changes old.c old.c -q --format json")
        .exits(0);
    assert_snapshot!(ran.stdout);
}

#[test]
fn it_agrees_with_the_text() {
    let scratch = pair();
    let text = scratch.beagle("changes old.c new.c").exits(1).stdout;
    let json = scratch
        .beagle("changes old.c new.c --format json")
        .exits(1)
        .json();
    let list = |key: &str| json[key].as_array().unwrap().len();
    let summary = |key: &str| json["summary"][key].as_u64().unwrap() as usize;
    assert_eq!(summary("changes"), list("changes"));
    assert_eq!(summary("hunks"), list("hunks"));
    let numbers = ["identical", "changed", "added", "deleted"].map(summary);
    assert_eq!(numbers.iter().sum::<usize>(), summary("functions"));

    assert!(text.contains(&format!("{} changes: old.c → new.c", summary("changes"))));
    assert!(text.contains(&format!("{} functions: ", summary("functions"))));
    assert!(text.contains(&format!("{} deleted", summary("deleted"))));
    for change in json["changes"].as_array().unwrap() {
        let name = change["name"].as_str().unwrap();
        let name = match change["subject"].as_str().unwrap() {
            "function" => format!("{name}()"),
            _ => name.to_owned(),
        };
        let kind = change["kind"].as_str().unwrap();
        let head = format!("{:>3}  {name}  {kind}", change["id"].as_u64().unwrap());
        assert!(text.contains(&head), "{head}\n{text}");
        for line in ["old", "new"]
            .iter()
            .flat_map(|key| change[key].as_array().unwrap())
        {
            assert!(
                text.contains(line["text"].as_str().unwrap().trim()),
                "{line}"
            );
        }
    }
}

#[test]
fn hunks_and_changes_refer_to_each_other_and_to_lines_of_the_files() {
    let scratch = pair();
    let json = scratch
        .beagle("changes old.c new.c --format json")
        .exits(1)
        .json();
    let hunks = json["hunks"].as_array().unwrap();
    for change in json["changes"].as_array().unwrap() {
        assert!(!change["hunks"].as_array().unwrap().is_empty(), "{change}");
        for id in change["hunks"].as_array().unwrap() {
            assert!(hunks.iter().any(|hunk| hunk["id"] == *id), "{change}");
        }
        for file in ["old", "new"] {
            let text = scratch.read(&format!("{file}.c"));
            for line in change[file].as_array().unwrap() {
                let number = line["line"].as_u64().unwrap() as usize;
                assert_eq!(line["file"], Value::from(format!("{file}.c")));
                assert_eq!(line["text"], text.lines().nth(number - 1).unwrap());
            }
        }
    }
}
