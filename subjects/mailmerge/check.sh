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

t 0 'name=Ann;city=Rome\nname=Bob\n' 'Dear Ann of Rome\nDear Bob of \n' 'Dear {name} of {city}'
t 0 'name=Ann\n' 'ANN  |ANN\n' '{name:5^}|{name^}'
t 0 'a=1\n' '[1][none][]\n' '[{a?x}][{b?none}][{b?}]'
t 0 'a=1\n' '{a} 1}\n' '{{a} {a}}'
t 0 ' a = x y ; b =z \n\n# no\n' 'x y-z\n' '{a}-{b}'
t 0 '@g=Hi\na=1\n@g=Yo\na=2\n@g\na=3\n' 'Hi 1\nYo 2\n- 3\n' '{g?-} {a}'
t 0 '@g=Hi\ng=record\ng=\n' 'record\nHi\n' '{g}'
t 0 '@a=1\n@b=2\nc=3\n' '2\nunused: a\n' -u '{b}'
t 0 'customer_name=Ann\n' 'Ann\n' '{customer_nam?}'
t 0 'a=abcdefghijklmnopqrstuvwxyz\n' 'abcdefghijklmnopqrstuvw\n' '{a}'
t 0 'a=abcdefghijklmnopqrstuvwx\n' 'abcdefghijklmnopqrstuvw\n' '{a}'
t 0 'a=Annabel\na=Bob\n' 'Annabel\nBob\n' '{a}'
t 0 'a=\n' '                                                                               \n' '{a:40}{a:39}'
t 4 'a=\n' '' '{a:40}{a:40}'
t 4 'a=1\nb=2\n' '1\n' -s '{a}'
t 4 'nonsense\n' '' '{a}'
t 4 'a=1;b=1;c=1;d=1;e=1;f=1;g=1\n' '' '{a}'
t 4 '@g\n' '' '{a}'
t 4 '@=1\n' '' '{a}'
t 3 'a=1\n' '' '{a:41}'
t 3 'a=1\n' '' '{a:x}'
t 3 'a=1\n' '' '{a'
t 3 'a=1\n' '' '{}'
t 3 'a=1\n' '' '{a^b}'
t 0 '' '' '{a'
t 2 '' ''
t 2 '' '' -x '{a}'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
