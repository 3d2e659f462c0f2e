#!/bin/sh
# check.sh PROGRAM: the test-suite of jsonpick
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

t pretty 0 '{"a":[1,{"b":null}],"c":{}}' '{\n  "a": [\n    1,\n    {\n      "b": null\n    }\n  ],\n  "c": {}\n}\n'
t compact 0 ' { "a" : [ 1 , true , false ] ,\r\n"b":\t[ ] } ' '{"a":[1,true,false],"b":[]}\n' -c
t scalar 0 ' "x" ' '"x"\n'
t numbers 0 '[0,-0,1.50,-12e3,0.1E-7,9e+0]' '[0,-0,1.50,-12e3,0.1E-7,9e+0]\n' -c
t leading-zero 1 '[01]' 'jsonpick: 1:3: '"',' or closing bracket expected"'\n' -v
t no-fraction 1 '[1.]' 'jsonpick: 1:4: digit expected\n' -v
t no-exponent 1 '[1e+]' 'jsonpick: 1:5: digit expected\n' -v
t lone-minus 1 '-' 'jsonpick: 1:2: digit expected\n' -v
t escapes 0 '"\\"\\\\\\/\\b\\f\\n\\r\\t"' '"\\"\\\\/\\b\\f\\n\\r\\t"\n'
t control 0 '"\\u0000\\u001f\\u007f"' '"\\u0000\\u001f\\u007f"\n'
t unicode 0 '"\\u00E9\\u20ac\\uD83D\\uDE00"' '"\303\251\342\202\254\360\237\230\200"\n'
t far-plane 0 '"\\udbff\\udfff"' '"\364\217\277\277"\n'
t unpaired 1 '["a","\\ud800x"]' 'jsonpick: 1:7: unpaired surrogate\n' -v
t low-first 1 '"\\udc00"' 'jsonpick: 1:2: unpaired surrogate\n' -v
t bad-hex 1 '"\\u12g4"' 'jsonpick: 1:6: hexadecimal digit expected\n' -v
t bad-escape 1 '"\\x"' 'jsonpick: 1:2: unknown escape\n' -v
t unclosed 1 '[\n "abc' 'jsonpick: 2:2: unclosed string\n' -v
t newline-in-string 1 '"a\nb"' 'jsonpick: 1:3: control character in string\n' -v
t columns 1 '["\303\251" 1]' 'jsonpick: 1:6: '"',' or closing bracket expected"'\n' -v
t empty 1 '' 'jsonpick: 1:1: value expected\n' -v
t nul 1 '[1\000]' 'jsonpick: 1:3: '"',' or closing bracket expected"'\n' -v
t word 1 '[nul]' 'jsonpick: 1:2: value expected\n' -v
t no-colon 1 '{"a" 1}' "jsonpick: 1:6: ':' expected\n" -v
t no-name 1 '{1:2}' 'jsonpick: 1:2: name expected\n' -v
t after 1 '{}\n\n x' 'jsonpick: 3:2: nothing more expected\n' -v
t invalid 1 '[,]' ''
t valid 0 '[[[]]]' 'valid\n' -v
t depth 1 '[[[]]]' 'jsonpick: 1:3: nested too deeply\n' -d 2 -v
t depth-empty 0 '[[],{},[]]' 'valid\n' -d 2 -v
t bad-depth 2 '[]' '' -d 513
t path 0 '{"a":{"b":[1,2,{"c":"x"}]}}' '"x"\n' 'a.b[2].c'
t leading-dot 0 '{"a":{"b":3}}' '3\n' .a.b
t quoted 0 '{"a.b":{"":[7,8]}}' '8\n' '["a.b"][""][1]'
t from-end 0 '[1,2,3]' '2\n' '[-2]'
t empty-path 0 '[1]' '[1]\n' -c ''
t last-wins 0 '{"a":1,"b":2,"a":3}' '3\n' a
t unique 1 '{"a":1,"b":2,"a":3}' 'jsonpick: 1:14: duplicate name\n' -u -v
t colliding 0 '{"Aa":1,"BB":2}' '1\n' -u Aa
t no-member 3 '{"a":1}' '' b
t no-element 3 '[1]' '' '[1]'
t before-start 3 '[1]' '' '[-2]'
t wrong-type 3 '[1]' '' a.b
t path-junk 2 '[1]' '' '[0]a'
t path-open 2 '[1]' '' '[0'
t path-no-name 2 '{}' '' a..b
t path-index 2 '[1]' '' '[x]'
t large-index 2 '[1]' '' '[100000000]'
t raw 0 '{"a":"x\\n\\"y"}' 'x\n"y\n' -r a
t raw-inner 0 '["a"]' '["a"]\n' -r -c
t where 0 '{"x\\n": 1,\n  "y": "z"}' '2:8 of 22 bytes\n' -w y
t bad-option 2 '1' '' -z
t two-paths 2 '1' '' a b

echo "$pass passed, $fail failed"
[ $fail -eq 0 ]
