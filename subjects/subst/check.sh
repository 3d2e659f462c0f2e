#!/bin/sh
# check.sh PROGRAM: the test-suite of subst
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
    printf -- "$input" >in
    printf -- "$output" >want
    "$prog" "$@" <in >got 2>err
    rc=$?
    if [ $rc -eq "$code" ] && cmp -s want got; then
        pass=$((pass + 1))
    else
        fail=$((fail + 1))
        echo "failed: $name (exit $rc, expected $code)"
    fi
}

t empty 0 '' '' a b
t first 0 'a-a\nba\n' 'x-a\nbx\n' a x
t global 0 'a-a\nba\n' 'x-x\nbx\n' -g a x
t no-newline 0 'aa' 'xa' a x
t no-match 0 'abc\n' 'abc\n' d x
t must-change 1 'abc\n' 'abc\n' -s d x
t must-change-ok 0 'abc\n' 'axc\n' -s b x
t any 0 'cat cut\n' 'tac tuc\n' -g 'c?t' 't\1c'
t run 0 'f(a, b); f(c, d)\n' 'g(b, a); g(d, c)\n' -g 'f(*, *)' 'g(\2, \1)'
t run-empty 0 'a[]\n' 'a<>\n' '[*]' '<\1>'
t digits 0 'p12.345\n' 'p345.12\n' '#.#' '\2.\1'
t digits-give-back 0 'x1200\n' 'x<120>\n' '#0' '<\1>'
t choice 0 'dog cat bird\n' '<dog> <cat> bird\n' -g '{cat|dog}' '<\1>'
t choice-order 0 'foobar!\n' '[foobar]\n' '{foo|foobar}!' '[\1]'
t choice-empty 0 'ac abc\n' '<> <b>\n' -g 'a{b|}c' '<\1>'
t line-start 0 'aab\n' 'xab\n' -g '^a' x
t line-end 0 'aba\n\n' 'ab!\n\n' 'a$' '!'
t at-line-end 0 'ab\n\n' 'ab;\n;\n' '$' ';'
t escapes 0 'a*b?{\n' 'a+b?{\n' '\*' +
t dollar-inside 0 'a$b\n' 'x\n' 'a$b' x
t literal 0 'a*b ab\n' 'x ab\n' -gL 'a*b' x
t literal-ends 0 '^a$\n' 'x\n' -L '^a$' x
t ignore-case 0 'Cat CAT\n' 'x x\n' -gi cAt x
t words 0 'cat concat cat_ cat\n' 'x concat cat_ x\n' -gw cat x
t words-run 0 'ab1 a1\n' '<b> a1\n' -w 'a*1' '<\1>'
t whole-line 0 'ab\nabc\nxab\n' '<>\nabc\nxab\n' -x 'a?' '<>'
t whole-line-run 0 'aXbXc\n' 'c aXb\n' -x '*X*c' 'c \1Xb'
t nth 0 'aaaa\na\naa\n' 'axaa\na\nax\n' -n 2 a x
t nth-global 0 'aaaa\n' 'axxx\n' -g -n 2 a x
t max 0 'aa\naa\n' 'xx\nxa\n' -g -m 3 a x
t only-changed 0 'a\nb\na\n' 'x\nx\n' -p a x
t count 0 'aa\nb\na\n' '3 replaced in 2 lines\n' -gc a x
t empty-matches 0 'abc\n' '-a-b-c-\n' -g '*' -
t whole-match 0 'ab\n' 'a[b][b]&\\\n' b '[&][\0]\&\\'
t control 0 'a,b\n' 'a\n\tb\n' , '\n\t'
t null-bytes 0 'a\0b\0c\n' 'a\0x\0c\n' b x
t delete 0 'aab\n' 'b\n' -g a ''
t bad-group 2 'a\n' '' 'a?' '\2'
t open-choice 2 'a\n' '' 'a{b' x
t trailing 2 'a\n' '' 'a\' x
t trailing-replacement 2 'a\n' '' a 'x\'
t empty-pattern 2 'a\n' '' '' x
t long-pattern 0 'a\n' 'a\n' '????????????????????????????????' x
t too-long-pattern 2 'a\n' '' '?????????????????????????????????' x
t bad-count 2 'a\n' '' -n 0 a x
t few-arguments 2 '' '' a
printf 'aa\n' >one
t file 0 '' 'xa\n' a x one
t missing-file 2 '' '' a x nowhere

echo "$pass passed, $fail failed"
[ $fail -eq 0 ]
