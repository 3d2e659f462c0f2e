//! What a run compared, turned into inputs that the comparison holds for: where one side stands in the
//! input, as text or as bytes, the other one is put.

use beagle_trace::Input;

use crate::wire::Compared;

/// Inputs in which one side of a comparison is replaced by the other.
pub fn substitutes(input: &Input, compared: &Compared) -> Vec<Input> {
    let mut made = Vec::new();
    let [a, b] = &compared.sides;
    for (from, to) in [(a, b), (b, a)] {
        for (from, to) in forms(from, to, compared.is_text) {
            replace_all(input, &from, &to, &mut made);
        }
    }
    made
}

/// How a number or text can stand in an input, with what would stand there instead.
fn forms(from: &[u8], to: &[u8], is_text: bool) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut forms = vec![(from.to_vec(), to.to_vec())];
    if is_text {
        return forms;
    }
    let reversed = |bytes: &[u8]| bytes.iter().rev().copied().collect::<Vec<u8>>();
    // Numbers are often read into a wider type than they have in the input.
    let narrow = from.len().div_ceil(2);
    if from.len() > 2 && from[narrow..] == to[narrow..] {
        forms.push((from[..narrow].to_vec(), to[..narrow].to_vec()));
        forms.push((reversed(&from[..narrow]), reversed(&to[..narrow])));
    }
    forms.push((reversed(from), reversed(to)));
    let (old, new) = (signed(from), signed(to));
    for step in [0, 1, -1] {
        forms.push((old.to_string().into(), (new + step).to_string().into()));
    }
    if old < 0 || new < 0 {
        let (old, new) = (unsigned(from), unsigned(to));
        forms.push((old.to_string().into(), new.to_string().into()));
    }
    forms.push((
        format!("{:x}", unsigned(from)).into(),
        format!("{:x}", unsigned(to)).into(),
    ));
    forms
}

fn unsigned(bytes: &[u8]) -> i128 {
    bytes
        .iter()
        .rev()
        .fold(0, |sum, &byte| sum << 8 | i128::from(byte))
}

fn signed(bytes: &[u8]) -> i128 {
    let value = unsigned(bytes);
    let bits = 8 * bytes.len() as u32;
    match bytes.last() {
        Some(last) if last & 0x80 != 0 => value - (1 << bits),
        _ => value,
    }
}

/// A place more would hardly help.
const MOST_PLACES: usize = 4;

fn replace_all(input: &Input, from: &[u8], to: &[u8], made: &mut Vec<Input>) {
    if from.is_empty() || from == to {
        return;
    }
    for (number, source) in input.sources.iter().enumerate() {
        if !source.symbolic {
            continue;
        }
        let starts = source.bytes.windows(from.len()).enumerate();
        let places = starts.filter(|(_, part)| *part == from);
        for (at, _) in places.take(MOST_PLACES) {
            let mut other = input.clone();
            let bytes = &mut other.sources[number].bytes;
            bytes.splice(at..at + from.len(), to.iter().copied());
            made.push(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(input: &Input, a: &[u8], b: &[u8], is_text: bool) -> Vec<Vec<u8>> {
        let compared = Compared {
            is_text,
            sides: [a.to_vec(), b.to_vec()],
        };
        let made = substitutes(input, &compared);
        made.into_iter()
            .map(|it| it.sources[1].bytes.clone())
            .collect()
    }

    #[test]
    fn numbers_are_found_as_text_and_as_bytes() {
        let number = |it: u32| it.to_le_bytes();
        let input = Input::from_args("p", ["x7y"]);
        let made = texts(&input, &number(7), &number(123_456), false);
        assert!(made.contains(&b"x123456y".to_vec()) && made.contains(&b"x123457y".to_vec()));
        let bytes = Input::from_args("p", [b"a\x01\x02\x03\x04".to_vec()]);
        let made = texts(&bytes, &number(0x0102_0304), &number(0x4142_4344), false);
        assert_eq!(made, [b"aABCD".to_vec()]);
    }

    #[test]
    fn texts_are_replaced() {
        let input = Input::from_args("p", ["-q"]);
        assert_eq!(
            texts(&input, b"-q", b"--secret", true),
            [b"--secret".to_vec()]
        );
        assert!(texts(&input, b"zz", b"yy", true).is_empty());
    }
}
