#!/bin/sh
# check.sh PROGRAM - test-suite of ini.
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
    got=$("$prog" "$@" 2>/dev/null <in.ini)
    rc=$?
    if [ "$rc" -eq "$exit" ] && [ "$got" = "$want" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL ini $*: exit $rc, output '$got'"
    fi
}

cat >in.ini <<'END'
; defaults
name = demo
[server]
port = 0x1F90        # 8080
host = "a\"b\\c\td\x21"
path = 'C:\temp' ; raw
motd = hello   world\
 and others
color = a;b#c
empty =
Debug = On
limit = 16k
huge = 16777216T
users = ann , bob,, carl
@include more.ini
last = -7
[client]
port = +12
[server]
port = 81
END
cat >more.ini <<'END'
included = yes
[extra]
x = 1
END
t 0 "4 sections, 15 keys" in.ini check
t 0 "4 sections, 15 keys" - check
t 0 "
server
extra
client" in.ini sections
t 0 "demo" in.ini get "" name
t 0 "81" in.ini int server port
t 0 "12" in.ini int client port
t 0 'a"b\c	d!' in.ini get server host
t 0 'C:\temp' in.ini get server path
t 0 "hello   world and others" in.ini get server motd
t 0 "a;b#c" in.ini get server color
t 0 "" in.ini get server empty
t 0 "true" in.ini bool server Debug
t 2 "" in.ini bool server debug
t 0 "true" -i in.ini bool SERVER debug
t 0 "16384" in.ini size server limit
t 1 "" in.ini size server huge
t 0 "ann
bob
carl" in.ini list server users
t 0 "yes" in.ini get server included
t 0 "-7" in.ini int server last
t 1 "" in.ini int server path
t 0 "x" in.ini keys extra
t 2 "" in.ini get nowhere x
t 1 "in.ini:20:1: port was set in in.ini:4 before
1 errors" -u in.ini check
t 0 'included = "yes"

[extra]
x = "1"' more.ini dump
cat >bad.ini <<'END'
[a
[b] c
x
y = "open
z = "\q"
w = "\x0g" \
  ; joined
@include missing.ini
@incl in.ini
= 1
abcdefghijklmnopqrstuvwxyz-012345 = 1
v = 'a' b
@include bad2.ini
END
echo '  @include bad2.ini' >bad2.ini
t 1 "bad.ini:1:3: ] expected
bad.ini:2:4: junk after the section
bad.ini:3:2: = expected
bad.ini:4:5: missing \"
bad.ini:5:7: unknown escape
bad.ini:6:7: bad character code
bad.ini:8:10: cannot open 'missing.ini'
bad.ini:9:1: unknown directive
bad.ini:10:1: name expected
bad.ini:11:1: name is too long
bad.ini:12:9: junk after the value
bad2.ini:1:12: includes are nested too deeply
12 errors" bad.ini check
t 1 "" bad.ini dump
printf '@include more.ini\r\nx = 1' >in.ini
t 0 'included = "yes"
x = "1"

[extra]
x = "1"' - dump
t 3 "" none.ini check
t 3 "" more.ini
t 3 "" more.ini frobnicate extra x

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
