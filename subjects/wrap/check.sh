#!/bin/sh
# The test-suite of wrap: check.sh PROGRAM
set -u
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
passed=0 failed=0

# t STATUS OUTPUT INPUT ARGUMENTS...: the last newline of OUTPUT is left out.
t() {
    status=$1 output=$2 input=$3
    shift 3
    got=$(printf "$input" | "$program" "$@" 2>/dev/null)
    code=$?
    if [ "$code" -eq "$status" ] && [ "$got" = "$(printf "$output")" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: wrap $* (status $code)"
    fi
}

t 0 '' ''
t 0 'one two' 'one\ntwo\n'
t 0 'one two\nthree' 'one two three\n' -w 8
t 0 'one two' 'one two\n' -w 7
t 0 'one\ntwo' 'one two\n' -w 6
t 0 'a\n\nb' 'a\n\n\nb\n'
t 0 'aa bb\n  cc\n  dd' 'aa bb cc dd\n' -w 5 -i 2
t 0 'aa bb\n  cc\n\ndd ee' 'aa bb cc\n\ndd ee\n' -w 5 -i 2
t 0 'abcdefgh' 'abcdefgh\n' -w 3
t 0 'abc\ndef\ngh' 'abcdefgh\n' -w 3 -s
t 0 'ab\n cde\n fgh' 'ab cdefgh\n' -w 4 -i 1 -s
t 0 'x' '   \n\n x'
t 2 '' 'x' -w 0
t 2 '' 'x' -w 201
t 2 '' 'x' -w 4 -i 4
t 2 '' 'x' -w 1x
t 2 '' 'x' extra
t 1 '' "$(printf '%0300d' 0)"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
