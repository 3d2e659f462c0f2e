//! Floating-point operators as terms over the bits of the operands.
//!
//! Each operator is written once in SMT-LIB for operands `a` and `b`, taken from floating point to
//! bit-vectors by Z3, and then used with the operands put in. So the solver sees bit-vectors only.
//!
//! Which bits a result that is not a number has, and which zero the lesser of both is, differs
//! between processors and compilers. There the term has bits of an unknown of its own: what
//! conflicts does so for all choices, and a model is only a proposal.

use std::sync::Once;

use beagle_trace::op::Op;
use rustc_hash::FxHashMap;
use z3::ast::{Ast, BV, Bool};
use z3::{Goal, Params, Solver, Tactic};

use super::terms::constant;

/// The operators that were used, by operator and widths of operand and result.
#[derive(Default)]
pub(super) struct Floats {
    templates: FxHashMap<(Op, u32, u32), Option<Template>>,
}

/// A result in terms of `a` and `b`.
struct Template {
    result: BV,
    /// Stands for a result that is not a number.
    nan: Option<BV>,
}

/// The widths of exponent and significand, the latter with the bit that is not stored.
fn format_of(width: u32) -> Option<(u32, u32)> {
    match width {
        32 => Some((8, 24)),
        64 => Some((11, 53)),
        _ => None,
    }
}

/// The bits of infinity.
fn infinity(width: u32) -> u128 {
    match width {
        32 => f32::INFINITY.to_bits().into(),
        _ => f64::INFINITY.to_bits().into(),
    }
}

fn sign_bit(width: u32) -> u128 {
    1 << (width - 1)
}

fn magnitude(bits: &BV) -> BV {
    let width = bits.get_size();
    bits.bvand(constant(width, sign_bit(width) - 1))
}

fn is_nan(bits: &BV) -> Bool {
    let width = bits.get_size();
    constant(width, infinity(width)).bvult(magnitude(bits))
}

fn both_zero(a: &BV, b: &BV) -> Bool {
    magnitude(&a.bvor(b)).eq(0u8)
}

/// Less, of numbers that are not both zero.
fn less(a: &BV, b: &BV) -> Bool {
    let zero = constant(a.get_size(), 0);
    let (a_negative, b_negative) = (a.bvslt(&zero), b.bvslt(&zero));
    let upward = Bool::and(&[
        b_negative.not(),
        Bool::or(&[a_negative.clone(), a.bvult(b)]),
    ]);
    a_negative.ite(&Bool::or(&[b_negative.not(), b.bvult(a)]), &upward)
}

/// Whether one of the relations of a predicate of LLVM holds.
pub(super) fn compare(a: &BV, b: &BV, predicate: u32) -> Bool {
    let unordered = Bool::or(&[is_nan(a), is_nan(b)]);
    let equal = Bool::or(&[a.eq(b), both_zero(a, b)]);
    let named = |bit: u32| Bool::from_bool(predicate & bit != 0);
    let differ = less(a, b).ite(&named(4), &named(2));
    unordered.ite(&named(8), &equal.ite(&named(1), &differ))
}

/// A quiet number that is none, with unknown sign and payload.
fn unknown_nan(width: u32) -> BV {
    let quiet: u128 = match width {
        32 => f32::NAN.to_bits().into(),
        _ => f64::NAN.to_bits().into(),
    };
    BV::fresh_const("nan", width).bvor(constant(width, quiet & (sign_bit(width) - 1)))
}

/// C's `fmin` or `fmax`.
fn least_or_greatest(a: &BV, b: &BV, least: bool) -> BV {
    let width = a.get_size();
    let either_zero = BV::fresh_const("zero", 1).eq(1u8).ite(a, b);
    let first = if least { less(a, b) } else { less(b, a) };
    let number = both_zero(a, b).ite(&either_zero, &first.ite(a, b));
    let a_else = is_nan(b).ite(a, &number);
    let b_else = is_nan(b).ite(&unknown_nan(width), b);
    is_nan(a).ite(&b_else, &a_else)
}

impl Floats {
    /// The result of an operator; `None` if it is not one of floating point that is known here.
    pub(super) fn operation(&mut self, op: Op, operands: &[BV], width: u32) -> Option<BV> {
        let a = operands.first()?;
        let from = a.get_size();
        match (op, operands) {
            (Op::FNeg, _) => return Some(a.bvxor(constant(width, sign_bit(width)))),
            (Op::FAbs, _) => return Some(magnitude(a)),
            (Op::FCopysign, [a, b]) => {
                let sign = b.bvand(constant(width, sign_bit(width)));
                return Some(magnitude(a).bvor(sign));
            }
            (Op::FMin, [a, b]) => return Some(least_or_greatest(a, b, true)),
            (Op::FMax, [a, b]) => return Some(least_or_greatest(a, b, false)),
            _ => {}
        }
        let template = self
            .templates
            .entry((op, from, width))
            .or_insert_with(|| Template::new(op, from, width));
        let template = template.as_ref()?;
        let formals = ["a", "b"].map(|name| BV::new_const(name, from));
        let mut pairs: Vec<(&BV, &BV)> = formals.iter().zip(operands).collect();
        let unknown = unknown_nan_for(template, width);
        if let (Some(formal), Some(actual)) = (&template.nan, &unknown) {
            pairs.push((formal, actual));
        }
        Some(template.result.substitute(&pairs))
    }
}

fn unknown_nan_for(template: &Template, width: u32) -> Option<BV> {
    template.nan.as_ref().map(|_| unknown_nan(width))
}

impl Template {
    fn new(op: Op, from: u32, width: u32) -> Option<Self> {
        let (body, float) = body(op, from, width)?;
        let body = match float {
            true => format!("(let ((f {body})) (ite (fp.isNaN f) n (fp.to_ieee_bv f)))"),
            false => body,
        };
        let result = without_floats(&format!(
            "(declare-const a (_ BitVec {from}))
            (declare-const b (_ BitVec {from}))
            (declare-const n (_ BitVec {width}))
            (declare-const r (_ BitVec {width}))
            (assert (= r {body}))"
        ))?;
        let nan = float.then(|| BV::new_const("n", width));
        Some(Self { result, nan })
    }
}

/// An operator in SMT-LIB, and whether its result is floating point.
fn body(op: Op, from: u32, width: u32) -> Option<(String, bool)> {
    let to_float = |width: u32, unsigned: &str| {
        let (exponent, significand) = format_of(width)?;
        Some(format!("(_ to_fp{unsigned} {exponent} {significand})"))
    };
    let operand = |name: &str| Some(format!("({} {name})", to_float(from, "")?));
    let binary = |name: &str| {
        Some(format!(
            "(fp.{name} RNE {} {})",
            operand("a")?,
            operand("b")?
        ))
    };
    let rounded = |mode: &str| Some(format!("(fp.roundToIntegral {mode} {})", operand("a")?));
    let text = match op {
        Op::FAdd => binary("add")?,
        // As a sum: the tactic of Z3 4.8 stumbles over a difference.
        Op::FSub => format!("(fp.add RNE {} (fp.neg {}))", operand("a")?, operand("b")?),
        Op::FMul => binary("mul")?,
        Op::FDiv => binary("div")?,
        Op::FSqrt => format!("(fp.sqrt RNE {})", operand("a")?),
        Op::FFloor => rounded("RTN")?,
        Op::FCeil => rounded("RTP")?,
        Op::FTrunc => rounded("RTZ")?,
        Op::FRound => rounded("RNA")?,
        Op::FRint => rounded("RNE")?,
        Op::SiToFp => format!("({} RNE a)", to_float(width, "")?),
        Op::UiToFp => format!("({} RNE a)", to_float(width, "_unsigned")?),
        Op::FpCast => format!("({} RNE {})", to_float(width, "")?, operand("a")?),
        Op::FpToSi | Op::FpToUi => {
            // Z3 refuses to convert to one bit.
            let wide = width.max(8);
            let sign = if op == Op::FpToSi { "s" } else { "u" };
            let whole = format!("((_ fp.to_{sign}bv {wide}) RTZ {})", operand("a")?);
            return Some((format!("((_ extract {} 0) {whole})", width - 1), false));
        }
        _ => return None,
    };
    Some((text, true))
}

/// What `r` is equal to in the only assertion of a script, taken to bit-vectors.
fn without_floats(script: &str) -> Option<BV> {
    // What is not defined gets a fixed value, not an uninterpreted function. Only as a parameter of
    // the process does the tactic see it.
    static DEFINED: Once = Once::new();
    DEFINED.call_once(|| z3::set_global_param("rewriter.hi_fp_unspecified", "true"));
    let reader = Solver::new();
    reader.from_string(script);
    let assertions = reader.get_assertions();
    let goal = Goal::new(false, false, false);
    goal.assert(assertions.first()?);
    let tactic = Tactic::new("fpa2bv");
    let applied = tactic.apply(&goal, Some(&Params::new())).ok()?;
    let formulas = applied.list_subgoals().next()?.get_formulas();
    match &*formulas {
        [formula] => formula.nth_child(1)?.as_bv(),
        _ => None,
    }
}
