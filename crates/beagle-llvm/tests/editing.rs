//! Changing modules: what is written is what LLVM then has, verifies and compiles.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::process::Command;

use beagle_llvm::{
    AttributeAt, Binary, Cast, Context, Editor, Effort, Function, Instruction, IntPredicate,
    Linkage, Machine, Module, Opcode, TransformError, TypeKind, Visibility,
};
use tempfile::TempDir;

struct Source {
    dir: TempDir,
}

impl Source {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// Bitcode of LLVM's text, made by LLVM's own tool.
    fn assembled(&self, text: &str) -> PathBuf {
        let (input, output) = (self.dir.path().join("x.ll"), self.dir.path().join("x.bc"));
        let head = "target triple = \"x86_64-pc-linux-gnu\"\n\
            target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n";
        std::fs::write(&input, format!("{head}{text}")).unwrap();
        let status = Command::new("/usr/lib/llvm-19/bin/llvm-as")
            .arg(&input)
            .arg("-o")
            .arg(&output)
            .status();
        assert!(status.unwrap().success());
        output
    }
}

/// Loads a text, changes it, verifies it, and gives what `look` makes of the result.
fn edited<R>(
    text: &str,
    change: impl for<'m> FnOnce(&Editor<'m>),
    look: impl FnOnce(&mut Module<'_>) -> R,
) -> R {
    let source = Source::new();
    let path = source.assembled(text);
    let mut context = Context::new();
    let mut module = Module::load(&mut context, &path).unwrap();
    module.edit(|editor| change(editor));
    module.verify().unwrap();
    look(&mut module)
}

fn printed(module: &mut Module<'_>) -> String {
    module.print()
}

fn instructions<'m>(function: Function<'m>) -> Vec<Instruction<'m>> {
    let blocks = function.blocks().into_iter();
    blocks.flat_map(|block| block.instructions()).collect()
}

const ADD: &str =
    "define i32 @f(i32 %a, i32 %b) {\n  %s = add nsw nuw i32 %a, %b\n  ret i32 %s\n}\n";

#[test]
fn instructions_are_written_where_the_builder_stands() {
    let text = edited(
        ADD,
        |editor| {
            let f = editor.function("f").unwrap();
            let code = instructions(f);
            let (add, ret) = (code[0], code[1]);
            let builder = editor.builder();
            builder.before(ret);
            let word = editor.int(32);
            let doubled = builder.binary(Binary::Mul, add.value(), editor.const_int(word, 2));
            let long = builder.cast(Cast::SExt, doubled, editor.int(64));
            let small = builder.compare(
                IntPredicate::LLVMIntSLT,
                long,
                editor.const_int(editor.int(64), 10),
            );
            let chosen = builder.select(small, doubled, add.value());
            editor.set_operand(ret, 0, chosen);
        },
        printed,
    );
    assert!(text.contains("mul i32 %s, 2"), "{text}");
    assert!(text.contains("sext i32"), "{text}");
    assert!(text.contains("select i1"), "{text}");
    assert!(!text.contains("ret i32 %s"), "{text}");
}

#[test]
fn constants_are_folded() {
    edited(
        ADD,
        |editor| {
            let ret = instructions(editor.function("f").unwrap())[1];
            let builder = editor.builder();
            builder.before(ret);
            let word = editor.int(32);
            let sum = builder.binary(
                Binary::Add,
                editor.const_int(word, 40),
                editor.const_int(word, 2),
            );
            assert_eq!(sum.as_int(), Some(42));
            let byte = builder.cast(Cast::Trunc, editor.const_int(word, 0x1ff), editor.int(8));
            assert_eq!(byte.as_int(), Some(0xff));
            assert!(sum.is_constant() && !sum.is_undefined());
        },
        |_| (),
    );
}

#[test]
fn promises_are_taken_away() {
    let text = "define ptr @g(ptr %p, i64 %i, float %x) {\n\
        %a = add nsw nuw i64 %i, 1\n  %d = udiv exact i64 %a, 4\n  %o = or disjoint i64 %d, 1\n\
        %t = trunc nuw i64 %o to i32\n  %z = zext nneg i32 %t to i64\n\
        %f = fadd fast float %x, 1.0\n  %v = fptosi float %f to i64\n  %w = add i64 %v, %z\n\
        %q = getelementptr inbounds i8, ptr %p, i64 %w\n  ret ptr %q\n}\n";
    let text = edited(
        text,
        |editor| {
            let code = instructions(editor.function("g").unwrap());
            assert!(code[0].is_no_signed_wrap());
            for instruction in code {
                editor.clear_promises(instruction);
                let builder = editor.builder();
                builder.before(instruction);
                if let Some(strict) = builder.strict(instruction) {
                    editor.replace_uses(instruction.value(), strict);
                    editor.discard(instruction);
                }
                assert!(!instruction.is_no_signed_wrap() && !instruction.is_exact());
            }
        },
        printed,
    );
    for flag in [
        "nsw", "nuw", "exact", "disjoint", "nneg", "inbounds", "fast",
    ] {
        assert!(!text.contains(flag), "{flag} in {text}");
    }
}

#[test]
fn numbers_stay_on_instructions_while_passes_run() {
    let text = "define i32 @h(i32 %a) {\n  %x = alloca i32\n  store i32 %a, ptr %x\n\
        %l = load i32, ptr %x\n  %s = add i32 %l, 1\n  ret i32 %s\n}\n";
    let source = Source::new();
    let path = source.assembled(text);
    let mut context = Context::new();
    let mut module = Module::load(&mut context, &path).unwrap();
    module.edit(|editor| {
        for (number, i) in (7..).zip(instructions(editor.function("h").unwrap())) {
            assert_eq!(editor.number(i, "test"), None);
            editor.set_number(i, "test", number);
            editor.set_number(i, "other", 1);
        }
    });
    module.run_passes("function(mem2reg)", None).unwrap();
    let left = module.edit(|editor| {
        let code = instructions(editor.function("h").unwrap());
        for &i in &code {
            editor.strip_remarks(i, &["test"]);
            assert_eq!(editor.number(i, "other"), None);
        }
        let of = |i: &Instruction<'_>| (i.opcode(), editor.number(*i, "test"));
        code.iter().map(of).collect::<Vec<_>>()
    });
    assert_eq!(
        left,
        [(Opcode::LLVMAdd, Some(10)), (Opcode::LLVMRet, Some(11))]
    );
}

#[test]
fn functions_and_variables_are_added_and_replaced() {
    let text = "declare i32 @old(i32)\n@table = global [1 x ptr] [ptr @old]\n\
        define i32 @f(i32 %a) {\n  %r = call i32 @old(i32 %a)\n  ret i32 %r\n}\n";
    let text = edited(
        text,
        |editor| {
            let old = editor.function("old").unwrap();
            assert_eq!(old.value().users().len(), 2);
            let new = editor.declare("new", old.function_type());
            editor.replace_uses(old.value(), new.value());
            assert!(old.value().users().is_empty());
            let long = editor.int(64);
            let entry = editor.const_struct(&[new.value(), editor.const_int(long, 8)]);
            let kind = editor.structure(&[editor.pointer(), long]);
            let list = editor.const_array(kind, &[entry, entry]);
            let global = editor.add_global("list", list, true);
            assert!(global.is_constant());
            assert_eq!(editor.size_of(global.content_type()), 32);
            assert_eq!(editor.field_offset(kind, 1), 8);
            editor.rename(editor.function("f").unwrap().value(), "renamed");
            let text = editor.text("hello");
            assert_eq!(text.as_global().unwrap().linkage(), Linkage::Private);
            let inside = editor.const_offset(global.value(), 16);
            assert!(inside.is_constant());
        },
        printed,
    );
    assert!(text.contains("[ptr @new]") && text.contains("call i32 @new"));
    assert!(text.contains("define i32 @renamed") && text.contains("@list = constant"));
}

#[test]
fn new_functions_have_blocks_switches_and_phis() {
    edited(
        ADD,
        |editor| {
            let word = editor.int(32);
            let ty = editor.function_type(word, &[word]);
            let function = editor.declare("choose", ty);
            let [entry, one, last] = [(); 3].map(|()| editor.append_block(function));
            let builder = editor.builder();
            let parameter = function.parameters()[0];
            builder.at_end(entry);
            let local = builder.local(word, 16);
            builder.store(parameter, local, 4);
            builder.switch(parameter, last, &[(editor.const_int(word, 5), one)]);
            builder.at_end(one);
            let loaded = builder.load(word, local, 4);
            let hidden = builder.hide(loaded);
            let called = builder.call(editor.function("f").unwrap(), &[hidden, loaded]);
            builder.jump(last);
            builder.at_end(last);
            let phi = builder.phi(word);
            editor.add_incoming(phi, parameter, entry);
            editor.add_incoming(phi, called, one);
            builder.ret(phi.value());
            editor.set_visibility(function.value(), Visibility::Module);
            assert_eq!(function.linkage(), Linkage::Internal);
            assert_eq!(phi.incoming().len(), 2);
            assert_eq!(entry.terminator().unwrap().case_values().len(), 1);
            assert!(called.as_instruction().unwrap().function() == Some(function));
        },
        |_| (),
    );
}

#[test]
fn discarded_instructions_go_at_the_end() {
    let text = edited(
        "declare i32 @g()\ndefine i32 @f() {\n  %a = call i32 @g()\n  %b = add i32 %a, %a\n  ret i32 %b\n}\n",
        |editor| {
            let f = editor.function("f").unwrap();
            let call = instructions(f)[0];
            editor.replace_uses(call.value(), editor.const_int(editor.int(32), 3));
            editor.discard(call);
            editor.discard(call);
            // Still there, so that handles stay good.
            assert_eq!(instructions(f).len(), 3);
        },
        printed,
    );
    assert!(!text.contains("call i32 @g"), "{text}");
}

#[test]
fn attributes_come_and_go() {
    let text = "define i32 @f(ptr noalias nonnull byval({i64, i64}) align 8 %p, ...) memory(none) {\n\
        ret i32 0\n}\ndeclare i32 @r(ptr)\ndefine void @c(ptr %p) {\n\
        %x = call nonnull ptr @d(ptr noalias %p) nounwind memory(read)\n  ret void\n}\ndeclare ptr @d(ptr)\n";
    let text = edited(
        text,
        |editor| {
            let f = editor.function("f").unwrap();
            let first = AttributeAt::Parameter(0);
            let ty = f.type_attribute(first, "byval").unwrap();
            assert_eq!(editor.size_of(ty), 16);
            assert!(f.has_attribute_at(first, "noalias"));
            assert!(matches!(
                f.function_type().kind(),
                TypeKind::Function(_, _, true)
            ));
            let kinds = editor.attribute_kinds(&["noalias", "nonnull", "memory", "no such one"]);
            editor.strip_attributes(f.value(), &kinds);
            let call = instructions(editor.function("c").unwrap())[0];
            editor.strip_attributes(call.value(), &kinds);
            assert!(call.call_has_attribute("nounwind"));
            editor.add_attribute(f, "noinline");
            editor.add_text_attribute(f, "key", "value");
            assert_eq!(f.text_attribute("key").as_deref(), Some("value"));
            assert_eq!(f.text_attribute("none"), None);
            assert!(f.has_attribute("noinline"));
        },
        printed,
    );
    for gone in ["noalias", "nonnull", "memory"] {
        assert!(!text.contains(gone), "{gone} in {text}");
    }
}

#[test]
fn modules_are_linked() {
    let source = Source::new();
    let other = source.assembled("define i32 @g(i32 %x) {\n  ret i32 %x\n}\ndefine internal i32 @local() {\n  ret i32 1\n}\n");
    let other = std::fs::read(other).unwrap();
    let text = "declare i32 @g(i32)\ndefine internal i32 @local() {\n  ret i32 2\n}\n\
        define i32 @f(i32 %a) {\n  %r = call i32 @g(i32 %a)\n  %s = call i32 @local()\n  ret i32 %r\n}\n";
    edited(
        text,
        |_| (),
        |module| {
            let mut seen = 0;
            let count = |other: &mut Module<'_>| seen = other.functions().count();
            module.link(&other, count).unwrap();
            assert_eq!(seen, 2);
            // What is private and not used does not come along.
            assert_eq!(module.functions().count(), 3);
            module.verify().unwrap();
            let error = module.link(b"nonsense", |_| {}).unwrap_err();
            assert!(matches!(error, TransformError::NotBitcode(_)), "{error}");
            // Two definitions of one name do not fit together.
            let error = module.link(&other, |_| {}).unwrap_err();
            assert!(matches!(error, TransformError::Link(_)), "{error}");
        },
    );
}

#[test]
fn broken_modules_and_passes_are_reported() {
    let source = Source::new();
    let path = source.assembled(ADD);
    let mut context = Context::new();
    let mut module = Module::load(&mut context, &path).unwrap();
    let error = module.run_passes("no-such-pass", None).unwrap_err();
    assert!(error.to_string().contains("no-such-pass"), "{error}");
    module.edit(|editor| {
        // A block without an end.
        let f = editor.function("f").unwrap();
        let block = editor.append_block(f);
        assert!(block.first().is_none() && block.terminator().is_none());
    });
    assert!(matches!(
        module.verify().unwrap_err(),
        TransformError::Broken(_)
    ));
}

#[test]
fn objects_and_bitcode_are_written() {
    let text = "define i32 @main() {\n  ret i32 42\n}\n";
    edited(
        text,
        |_| (),
        |module| {
            let dir = tempfile::tempdir().unwrap();
            module.set_flag("PIC Level", 2);
            let machine = Machine::new(module, Effort::Default).unwrap();
            module.run_passes("default<O2>", Some(&machine)).unwrap();
            let (object, program) = (dir.path().join("x.o"), dir.path().join("x"));
            module.emit_object(&machine, &object).unwrap();
            let mut link = Command::new("clang-19");
            let status = link.arg(&object).arg("-o").arg(&program).status();
            assert!(status.unwrap().success());
            let status = Command::new(&program).status().unwrap();
            assert_eq!(status.code(), Some(42));
            let bitcode = dir.path().join("y.bc");
            module.write_bitcode(&bitcode).unwrap();
            let mut context = Context::new();
            assert!(Module::load(&mut context, &bitcode).is_ok());
            let nowhere = dir.path().join("no/such/directory");
            assert!(module.write_bitcode(&nowhere).is_err());
            assert!(module.emit_object(&machine, &nowhere).is_err());
        },
    );
}

#[test]
fn other_machines_are_refused() {
    let source = Source::new();
    let input = source.dir.path().join("arm.ll");
    std::fs::write(&input, "target triple = \"aarch64-linux-gnu\"\n").unwrap();
    let output = source.dir.path().join("arm.bc");
    let status = Command::new("/usr/lib/llvm-19/bin/llvm-as")
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .status();
    assert!(status.unwrap().success());
    let mut context = Context::new();
    let module = Module::load(&mut context, &output).unwrap();
    assert_eq!(module.triple(), "aarch64-linux-gnu");
    let error = Machine::new(&module, Effort::Less).err().unwrap();
    assert!(matches!(error, TransformError::Target { .. }), "{error}");
}

#[test]
fn more_is_known_of_instructions() {
    let text = "define i32 @v(<4 x i32> %a, <4 x i32> %b, ptr %p) {\n\
        %s = shufflevector <4 x i32> %a, <4 x i32> %b, <2 x i32> <i32 5, i32 undef>\n\
        %e = extractelement <2 x i32> %s, i32 0\n  %x = load volatile i32, ptr %p, align 2\n\
        %r = musttail call i32 @v(<4 x i32> %a, <4 x i32> %b, ptr %p)\n  ret i32 %r\n}\n";
    edited(
        text,
        |editor| {
            let code = instructions(editor.function("v").unwrap());
            assert_eq!(code[0].shuffle_mask(), [Some(5), None]);
            assert_eq!(editor.alignment(code[2].value()), 2);
            assert!(code[2].is_volatile_or_atomic());
            editor.set_alignment(code[2].value(), 1);
            assert_eq!(editor.alignment(code[2].value()), 1);
            assert!(code[3].is_must_tail() && !code[1].is_must_tail());
            assert!(code[3].called_function() == editor.function("v"));
            assert!(code[1].next() == Some(code[2]));
            assert!(code[4].operand(0) == Some(code[3].value()));
            assert!(code[4].operand(1).is_none());
        },
        |_| (),
    );
}
