#!/bin/sh
# check.sh PROGRAM: the test-suite of calc
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

max=9223372036854775807
min="(-$max-1)"

t empty 0 '' ''
t blank 0 '\n;;\n# only a comment\n' ''
t sum 0 '1 + 2 - 4\n' '-1\n'
t precedence 0 '2+3*4\n(2+3)*4\n7-2-1\n64/4/2\n' '14\n20\n4\n8\n'
t power 0 '' '512\n-4\n4\n1\n' '2**3**2; 0-2**2; (-2)**2; 5**0'
t power-limit 1 '' '4611686018427387904\n8650415919381337933\n' '2**62' '13**17' '2**63'
t negative-exponent 1 '' '' '2**-1'
t modulo 0 '' '1\n2\n-2\n-1\n0\n' '7%3' '(-7)%3' '7%-3' '(-7)%-3' "$min%-1"
t divide 1 '' '-3\n-2\n' '7/-2' '(-6)/3' '1/0' '1%0' "$min/-1"
t overflow 1 '' '' -- "$max+1" "-$max-2" "$max*2" "$min*-1" "-$min" "$max--1"
t limits 0 '' "$max\n-9223372036854775808\n" -- "$max" "$min"
t large-literal 1 '' '' 9223372036854775808
t compare 0 '' '1\n0\n1\n1\n0\n1\n' '1<2;2<1;2<=2;3>2;2>=3;1!=2'
t logic 0 '' '1\n0\n0\n1\n1\n' '1&&2;0||0;!5;!0;1<2==1'
t short-circuit 0 '' '0\n1\n2\n' '0&&1/0;1||1/0;1?2:1/0'
t choice 0 '' '3\n5\n' '0?1:0?2:3;1?0?4:5:6'
t variables 0 'x=3\ny = x*2; y+x\n_ - 1\n' '9\n8\n'
t undefined 1 '' '' 'x' 'x=x+1' 'x' 'del x'
t delete 1 '' '2\n' 'a=1;q=2;del a;q' 'a'
t reuse 0 '' '3\n2\n' 'a=1;q=2;del a;a=3;a;q'
t functions 0 '' '5\n-1\n2\n3\n6\n3\n10\n7\n0\n' \
    'abs(-5);sgn(-9);min(2,3);max(2,3);gcd(12,-18);isqrt(15);choose(5,2);clamp(9,1,7);clamp(-4,3)'
t function-errors 1 '' '' 'abs(1,2)' 'min(1)' 'foo(1)' 'abs()' 'isqrt(-1)' 'clamp(1,3,2)'
t maxima 0 '' '-2\n0\n' 'max(-3,-2);max(-3,0)'
t root-limit 0 '' '3037000499\n' "isqrt($max)"
t gcd-limit 1 '' '' "gcd($min,0)"
t base 0 '' '11111111\n' -b 2 255
t base36 0 '' '-zz\n' -b 36 -- '-1295'
t width 1 '' '127\n-128\n' -w 8 127 '0-128' 128 '0-129'
t listing 0 '' 'ab = 2\nb = 3\n' -v 'b=3;ab=2;a=1;del a'
t stop 1 '1\n1/0\n2\n' '1\n' -s
t go-on 1 '1\n1/0;3\n2\n' '1\n2\n'
t syntax 1 '' '' '1+' '(1' '1)' '1 2' '@' '1=2' 'del 1' '1?2'
t long-name 1 '' '' 'abcdefghijklmnop=1'
t decimal 0 '' '10\n9\n' '010;09'
t deep 0 '' '1\n' '((((((((((1))))))))))'
t too-deep 1 '' '' "0$(printf '%050d' 0 | tr 0 -)1"
t table-full 1 '' '16\n' 'a=1;b=2;c=3;d=4;e=5;f=6;g=7;h=8;i=9;j=10;k=11;l=12;m=13;n=14;o=15;p=16;p' 'q=1'
t null-byte 1 '1\0002\n3\n' '3\n'
t bad-option 2 '' '' -z
t bad-base 2 '' '' -b 37 1

echo "$pass passed, $fail failed"
[ $fail -eq 0 ]
