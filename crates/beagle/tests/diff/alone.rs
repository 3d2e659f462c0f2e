//! What one technique finds by itself is found beside others, too, although these go elsewhere.

use std::path::Path;

use crate::support::Pair;

/// A heap of jobs in which a place behind the last one is looked at: it takes one more job, and then one less. The change
/// is executed by every run, so those who follow its effect stay where they are.
#[test]
fn what_coverage_finds_is_found_beside_others() {
    let pair = Pair::new("", "");
    let subject = beagle_subjects::root().join("jobs/base");
    let names = copy(&subject, &pair.path("there"), |_, text| text);
    assert!(names.contains(&"heap.c".to_owned()));
    copy(&subject, &pair.path("here"), |name, text| match name {
        "heap.c" => {
            let edited = text.replacen("left < h->count && before(", "before(", 1);
            assert_ne!(edited, text);
            edited
        }
        _ => text,
    });
    pair.write("jobs", "add u 0 5\nadd w 2 1\ntick 4\nreport\ndrain\n");
    // By itself in 100 to 112. When it knew what the others cover, not in 2000.
    for (strategy, most) in [("cover", 200), ("infect,propagate,cover", 1000)] {
        let ran = pair.beagle(&format!(
            "diff there here --program jobs --format json --quiet --first --no-blame --timeout 60 --max-runs {most} \
             --strategy {strategy} --stdin jobs -- {{-a}} {{3}}"
        ));
        ran.report().is("different", 1).within(most);
    }
}

fn copy(from: &Path, to: &Path, edit: impl Fn(&str, String) -> String) -> Vec<String> {
    fs_err::create_dir_all(to).unwrap();
    let entries = fs_err::read_dir(from).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    let names = files.map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = edit(&name, fs_err::read_to_string(&path).unwrap());
        fs_err::write(to.join(&name), text).unwrap();
        name
    });
    names.collect()
}
