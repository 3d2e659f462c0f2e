#!/bin/sh
# check.sh PROGRAM: the test-suite of comments
set -u
prog=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
pass=0 fail=0

# t NAME EXIT INPUT OUTPUT ARGUMENT...   (INPUT and OUTPUT are printf formats)
t() {
    name=$1 code=$2 input=$3 output=$4
    shift 4
    printf "$input" >in
    printf "$output" >want
    "$prog" "$@" <in >got 2>err
    rc=$?
    if [ $rc -eq "$code" ] && cmp -s want got; then
        pass=$((pass + 1))
    else
        fail=$((fail + 1))
        echo "failed: $name (exit $rc, expected $code)"
    fi
}

t empty 0 '' ''
t plain 0 'int a;\n' 'int a;\n'
t block 0 'a/* x */b\n' 'a b\n'
t line 0 'a // x\nb\n' 'a \nb\n'
t line-at-end 0 'a // x' 'a '
t stars 0 'a/***/b/**/c/* ** / **/d\n' 'a b c d\n'
t slash-star-slash 0 'a/*/b*/c\n' 'a c\n'
t division 0 'a / b /c\n' 'a / b /c\n'
t slash-at-end 0 'a/' 'a/'
t string 0 '"/* no */" /* yes */\n' '"/* no */"  \n'
t escape 0 '"\\\\" /* x */ "\\"/*"\n' '"\\\\"   "\\"/*"\n'
t character 0 "'\"' /* x */ '\\\\''//\n" "'\"'   '\\\\''\n"
t quote-after-slash 0 "a/'\"'/*x*/+1\n" "a/'\"' +1\n"
t lines-lost 0 'a/*x\ny*/b\n' 'a b\n'
t lines-kept 0 'a/*x\ny*/b\n' 'a\n b\n' -l
t continued-comment 0 'a//x\\\ny\nb\n' 'a\nb\n'
t continued-comment-kept 0 'a//x\\\ny\nb\n' 'a\n\nb\n' -l
t continued-code 0 'a\\\nb\n' 'a\\\nb\n'
t joined-code 0 'a\\\nb\n' 'ab\n' -j
t continued-slash 0 'a/\\\n*x*/b\n' 'a b\n'
t flat 0 'a/*/*x*/b*/\n' 'a b*/\n'
t nested 0 'a/*/*x*/b*/c\n' 'a c\n' -n
t nested-slashes 0 'a/* //*x*/ */c\n' 'a c\n' -n
t raw 0 'R"(a"/*)" /*x*/\n' 'R"(a"/*)"  \n' -r
t raw-delimiter 0 'u8R"--()-)")--"/*x*/\n' 'u8R"--()-)")--" \n' -r
t raw-restart 0 'R"((x))"/*x*/ LR"a())a"//\n' 'R"((x))"  LR"a())a"\n' -r
t raw-backslash 0 'R"(\\\n)"//x\n' 'R"(\\\n)"\n' -r
t not-raw 0 'R"(" /*x*/ xR"(" //y\n' 'R"("   xR"(" \n'
t not-raw-prefix 0 'xR"(" //y\n' 'xR"(" \n' -r
t bad-raw 1 'R"a b" //y\n' 'R"a b" \n' -r
t open-raw 2 'R"(a"\n' 'R"(a"\n' -r
t list 0 'a/* x\n y */b\n//z \n//\n' '1: x  y\n3: z\n4: \n' -x
t tag 0 '//TODO a\n/*TODOS*/ /*aTODO*/ // b:TODO\n' '1: TODO a\n2: b:TODO\n' -t TODO
t open-string 1 '"abc\n/*x*/b\n' '"abc\n b\n'
t open-comment 2 'a /* b\n' 'a '
t counts 0 'a="b";//c\n\n/*d\n\ne*/f\n/*g*/\n' \
    'lines 6\ncode 2\ncomment 5\nblank 1\ncomments 3\nstrings 1\ncharacters 0\n' -c
t count-characters 0 "'a' '\\\\'' \"\"" \
    'lines 1\ncode 1\ncomment 0\nblank 0\ncomments 0\nstrings 1\ncharacters 2\n' -c
t high-bytes 0 'a\377/*\377*/b\n' 'a\377 b\n'
t bad-option 3 '' '' -z
t missing-file 3 '' '' nowhere
printf 'a//b\n' >one
t file 0 '' 'a\n' one

echo "$pass passed, $fail failed"
[ $fail -eq 0 ]
