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

t 0 '' ''
t 0 'add a 3 1\nadd b 2 1\nadd c 2 1\ndrain\n' '1: done b\n2: done c\n3: done a\n'
t 0 'quantum 2\nadd a 1 4\nadd b 1 3\ndrain\n' '6: done a\n7: done b\n'
t 0 'add a 1 4\nadd b 1 1\ndrain\n' '0: run a\n3: expire a\n3: run b\n4: done b\n4: run a\n5: done a\n' -v
t 0 'add a 5 2\nadd b 5 1\ntick\nadd c 1 1\ndrain\n' '0: run a\n1: preempt a\n1: run c\n2: done c\n2: run a\n3: done a\n3: run b\n4: done b\n' -v
t 0 'add a 5 2\nadd b 1 1 a\nadd c 9 1 a b\ndrain\nadd d 0 1 a\ntick\n' '2: done a\n3: done b\n4: done c\n5: done d\n'
t 0 'add a 5 2\nadd b 1 1 a\nblock b\nunblock b\ntick\nreport\n' 'time 1 quantum 3\na           running prio 5 left 1\nb           waiting prio 1 left 1 unmet 1\n'
t 0 'add a 5 3\ntick\nblock a\ntick 2\nreport\nunblock a\ndrain\n' 'time 3 quantum 3\na           blocked prio 5 left 2\n5: done a\n'
t 0 'add a 3 1\nadd b 4 1\nrenice b 1\ndrain\n' '1: done b\n2: done a\n'
t 0 'add u 0 3\nadd w 2 1\ntick 2\nreport\n' 'time 2 quantum 3\nu           running prio 0 left 1\nw           ready   prio 2(1) left 1 waited 2\n' -a 1
t 0 'add a 5 1\nadd b 9 1\nadd c 7 1\nadd d 6 1\nadd e 4 1\nadd f 0 1\nadd g 3 1\nblock b\ndrain\n' '1: done f\n2: done g\n3: done e\n4: done a\n5: done d\n6: done c\n'
t 0 '# comment\n\ntick\nreport\n' 'time 1 quantum 3\n'
t 1 'add a 1 1\nadd a 1 1\ndrain\n' '1: done a\n'
t 1 'add a 10 1\n' ''
t 1 'add a 1 0\n' ''
t 1 'add a 1 1 b\n' ''
t 1 'add a 1 1\nadd b 1 1 a a\nreport\n' 'time 0 quantum 3\na           ready   prio 1 left 1 waited 0\n'
t 1 'add twelve_bytes 1 1\n' ''
t 1 'add a 1 1\nunblock a\nblock a\nblock a\n' ''
t 1 'add a 1 1\ntick\nblock a\nrenice a 2\n' '1: done a\n'
t 1 'quantum 0\n' ''
t 1 'tick x\n' ''
t 1 'frob\n' ''
t 2 '' '' -a x
t 2 '' '' -z
t 2 '' '' extra

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
