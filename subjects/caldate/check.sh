#!/bin/sh
# check.sh PROGRAM - test-suite of caldate.
set -u
case $1 in /*) prog=$1 ;; *) prog=$(pwd)/$1 ;; esac
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
passed=0 failed=0

# t EXIT STDOUT ARGUMENT...
t() {
    exit=$1 want=$2
    shift 2
    got=$("$prog" "$@" 2>/dev/null </dev/null)
    rc=$?
    if [ "$rc" -eq "$exit" ] && [ "$got" = "$want" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL caldate $*: exit $rc, output '$got'"
    fi
}

t 0 "date: 2024-02-29
weekday: Thursday
day of year: 60 of 366
iso week: 2024-W09-4" info 2024-02-29
t 0 "date: 0001-01-01
weekday: Monday
day of year: 1 of 365
iso week: 0001-W01-1" info 0001-001
t 0 "date: 2018-12-31
weekday: Monday
day of year: 365 of 365
iso week: 2019-W01-1" info 2019-W01-1
t 0 "date: 2021-01-04
weekday: Monday
day of year: 4 of 365
iso week: 2021-W01-1
working day: no" -H 2021-01-04 info 2021-01-04
t 1 "" info 2023-02-29
t 1 "" info 1900-366
t 1 "" info 2021-W53-1
t 1 "" info 2024-13-01
t 1 "" info 2024/01/01
t 0 "2024-03-01" add 2024-02-28 +2d
t 0 "2024-02-28" add 2024-03-13 -2w
t 0 "2023-02-28" add 2024-02-29 -1y
t 0 "2024-03-01" -e spill add 2023-12-31 +2m -1d
t 1 "" -e refuse add 2023-12-31 +2m
t 0 "2024-03-15" add 2024-03-01 +10b
t 0 "2024-03-18" -H 2024-03-13 add 2024-03-01 +10b
t 0 "2024-02-29" add 2024-03-01 -1b
t 1 "" add 9999-12-31 +1d
t 1 "" add 2024-01-01 +1x
t 0 "366" diff 2024-01-01 2025-01-01
t 0 "-1" diff 2000-03-01 2000-02-29
t 0 "24y 1m 28d" span 2000-01-01 2024-02-29
t 0 "-0y 11m 30d" span 2023-12-31 2023-01-01
t 0 "64
2024-03-29
2024-03-30
2024-05-01" -v -H 2024-05-01 -H 2024-03-29 -H 2024-03-30 -H 2024-06-01 work 2024-03-01 2024-06-01
t 0 "2024-11-28" nth 2024-11 4 thu
t 0 "2024-05-27" nth 2024-05 -1 Monday
t 1 "" nth 2023-02 5 mon
t 0 "2024-W01-1 Mon 001%" -f "%G-W%V-%u %a %j%%" add 2023-12-31 +1
t 1 "" -f "%q" nth 2024-05 1 tu
t 2 "" info
t 2 "" frobnicate 2024-01-01 2024-01-01

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
