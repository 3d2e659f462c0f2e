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

head='category     count          USD      average   share\n'
t 0 '' "${head}total            0         0.00\n"
t 0 'in pay 100\nout food 12.5\nout food 37.5\n' "${head}food             2       -50.00       -25.00   33.3%% *\npay              1       100.00       100.00   66.7%% *\ntotal            3        50.00\n"
t 0 'rate EUR 1.1\nrate CHF 0.9 EUR\nin a 10 CHF\nin b 10 EUR\n' "${head}a                1         9.90         9.90   47.4%% *\nb                1        11.00        11.00   52.6%% *\ntotal            2        20.90\n"
t 0 'rate AAA 2\nrate BBB 2 AAA\nrate CCC 2 BBB\nrate DDD 2 CCC\nin x 1 DDD\n' "${head}x                1        16.00        16.00  100.0%% *\ntotal            1        16.00\n"
t 1 'rate AAA 2 BBB\nrate BBB 2 AAA\nin x 1 AAA\n' ''
t 0 'in a 2.5\nout b 2.5\n' "${head}a                1            3            3   50.0%% *\nb                1           -3           -3   50.0%% *\ntotal            2            0\n" -d 0
t 0 'in b 1\nin c 5\nin a 1\n' "${head}c                1         5.00         5.00   71.4%% *\na                1         1.00         1.00   14.3%%\nb                1         1.00         1.00   14.3%%\ntotal            3         7.00\n" -s
t 0 'in a 102\nin b 898\n' "${head}a                1       102.00       102.00   10.2%% *\nb                1       898.00       898.00   89.8%% *\ntotal            2      1000.00\n" -t 10.2
t 0 'in a 2\nout b 0.5\n' "${head}a                1         2.00         2.00  100.0%% *\ntotal            1         2.00\nskipped 1\n" -m 1
t 0 'in a 1\nin b 2\nvoid\n' "${head}a                1         1.00         1.00  100.0%% *\ntotal            1         1.00\n"
t 0 'in a 1\nin a 2\nvoid\n' "${head}a                1         1.00         1.00  100.0%% *\ntotal            1         1.00\n"
t 1 'in a 1\nvoid\nvoid\n' ''
t 1 'in a 2\nin b 0.5\nvoid\n' '' -m 1
t 1 'rate USD 2\n' ''
t 1 'rate EUR 0\n' ''
t 1 'rate eur 1\n' ''
t 1 'in a 1 EUR\n' ''
t 1 'in a nan\n' ''
t 1 'in a 1e13\n' ''
t 1 'in a\n' ''
t 1 'in thirteenbytes 1\n' ''
t 1 'pay 1\n' ''
t 0 'rate USD 0.5\nin a 3 USD\n' 'category     count          EUR      average   share\na                1        1.500        1.500  100.0%% *\ntotal            1        1.500\n' -b EUR -d 3
t 2 '' '' -b euro
t 2 '' '' -d 7
t 2 '' '' extra

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
