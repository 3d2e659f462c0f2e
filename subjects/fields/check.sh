#!/bin/sh
# check.sh PROGRAM: the test-suite of fields
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

t single 0 'a:b:c\nd:e:f\n' 'b\ne\n' -f 2
t range 0 'a:b:c:d\n' 'b:c\n' -f 2-3
t open-end 0 'a:b:c:d\n' 'c:d\n' -f 3-
t open-start 0 'a:b:c:d\n' 'a:b\n' -f -2
t everything 0 'a::b\n' 'a::b\n' -f -
t from-end 0 'a:b:c\nx\n' 'c\nx\n' -f '~1'
t from-end-range 0 'a:b:c:d\n' 'b:c\n' -f '~3-~2'
t from-end-missing 0 'a:b\n' '\n' -f '~3'
t sorted 0 'a:b:c:d\n' 'a:b:c\n' -f 3,1-2,2
t nested-ranges 0 'a:b:c:d:e\n' 'a:b:c:d\n' -f 1-4,2-3
t order 0 'a:b:c\n' 'c:a:b:a\n' -r -f 3,1-2,1
t beyond 0 'a:b\n' '\n' -f 5
t no-newline 0 'a:b' 'b\n' -f 2
t empty-input 0 '' '' -f 1
t delimiter 0 'a b c\n' 'b c\n' -d ' ' -f 2-
t tab 0 'a\tb\n' 'b\n' -d '\t' -f 2
t separator 0 'a:b:c\n' 'a, c\n' -o ', ' -f 1,3
t filler 0 'a::c\n' 'a:none:c\n' -e none -f 1-
t pad 0 'aa:bb:cc\nd\n' 'aa:bb:cc\nd::\n' -p -f 1-3
t pad-filler 0 'a\n' 'a:-:-\n' -p -e - -f 1-3
t quotes 0 'a:"b:c":d\n' '"b:c"\n' -q -f 2
t open-quote 1 'a:"b:c\nd:e\n' 'e\n' -q -f 2
t only-delimited 0 'a\nb:c\n' 'b\n' -s -f 1
t merge 0 '::a:::b:\n' 'a:b\n' -w -f 1-9
t numbers 0 'a:b\nc:d\n' '1 b\n2 d\n' -n -f 2
t expected 1 'a:b\na\nc:d\n' 'b\nd\n' -c 2 -f 2
t checksum 1 'ab:89\nab:90\n' 'ab\n' -x -f 1-
t many-ranges 0 'a:b:c:d:e:f:g:h\n' 'a:b:c:d:e:f:g:h\n' -f 1,2,3,4,5,6,7,8
t too-many-ranges 2 'a\n' '' -f 1,2,3,4,5,6,7,8,9
t bad-number 2 'a\n' '' -f 0
t bad-list 2 'a\n' '' -f 1x
t large-number 2 'a\n' '' -f 10000
t no-list 2 'a\n' ''
t bad-option 2 'a\n' '' -f 1 -z
t bad-delimiter 2 'a\n' '' -f 1 -d ab
printf 'p:q\n' >one
printf 'r:s' >two
t files 0 '' 'q\ns\n' -f 2 one two
t missing-file 1 '' 'q\n' -f 2 one nowhere

echo "$pass passed, $fail failed"
[ $fail -eq 0 ]
