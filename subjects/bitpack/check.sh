#!/bin/sh
# usage: check.sh PROGRAM
set -u

case ${1:?usage: check.sh PROGRAM} in
/*) prog=$1 ;;
*) prog=$PWD/$1 ;;
esac
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
trap 'exit 2' HUP INT TERM
cd "$dir" || exit 2
passed=0
failed=0

# t STATUS STDIN STDOUT ARGUMENT...   (STDIN and STDOUT are printf formats)
t() {
    status=$1 input=$2 expected=$3
    shift 3
    printf -- "$input" >input
    printf -- "$expected" >expected
    "$prog" "$@" <input >output 2>error
    got=$?
    if [ "$got" -ne "$status" ]; then
        echo "failed: exit $got instead of $status:" "$@"
        failed=$((failed + 1))
    elif ! cmp -s expected output; then
        echo "failed: wrong output:" "$@"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

t 0 '' 'd5\n' pack s4,u4 -3 5
t 0 '' 'd525\n' -c pack s4,u4 -3 5
t 0 '' '85bc0a\n' -l pack u3,s5,u12 5 -16 2748
t 0 '' '8000000000000000ffffffffffffffff\n' pack s64,u64 -9223372036854775808 0xffffffffffffffff
t 3 '' '' pack u4 16
t 3 '' '' pack s4 8
t 3 '' '' pack s4 -9
t 3 '' '' pack u4,u4 1
t 3 '' '' pack u4 1 2
t 3 '' '' pack u0 1
t 3 '' '' pack u4,q4 1 2
t 0 '' '-3\n5\n' unpack s4,u4 d5
t 0 '' '-3\n5\n' -c unpack s4,u4 d525
t 0 '' '5\n-16\n2748\n' -l unpack u3,s5,u12 85bc0a
t 0 '' '-9223372036854775808\n' unpack s64 8000000000000000
t 0 'd5 25\n' '0xd\n0x5\n' -xc unpack s4,u4 -
t 3 '' '' -c unpack u8 d524
t 3 '' '1\n' unpack u8,u8 01
t 3 '' '213\n' -c unpack u8,u8,u8 d525
t 0 '' '64\n' pop ffffffffffffffff
t 0 '' 'odd\n' parity 100000000
t 0 '' 'even\n' parity 3
t 0 '' '5\n' gray 6
t 0 '' '6\n' ungray 5
t 0 '' '0xaaaaaaaaaaaaaaaa\n' -x ungray 0xffffffffffffffff
t 0 '' '10\n' rev 5 1
t 0 '' 'b\n' rev 4 d
t 0 '' 'f7b3d591e6a2c480\n' rev 64 0123456789abcdef
t 0 '' 'c\n' rotl 8 3 81
t 0 '' 'c0\n' rotr 8 9 81
t 0 '' '81\n' rotr 64 0 81
t 3 '' '' rotl 65 1 1
t 3 '' '' rotl 4 1 10
t 0 '' 'f4\n' crc8 313233343536373839
t 0 '' '29b1\n' crc16 313233343536373839
t 0 '3132333435\n36373839\n' 'cbf43926\n' crc32 -
t 3 '' '' crc8 123
t 3 '' '' crc8 xy
t 3 '' '' crc8 -
t 2 '' '' frobnicate
t 2 '' ''
t 2 '' '' -z pop 1

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
