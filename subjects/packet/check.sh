#!/bin/sh
# check.sh PROGRAM - test-suite of packet.
set -u
case $1 in /*) prog=$1 ;; *) prog=$(pwd)/$1 ;; esac
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
passed=0 failed=0

# Writes bytes given in hexadecimal.
bytes() {
    rest=$1
    while [ -n "$rest" ]; do
        tail=${rest#??}
        printf "\\$(printf %03o "0x${rest%"$tail"}")"
        rest=$tail
    done
}

# t NAME HEX EXIT STDOUT OPTION...
t() {
    name=$1 exit=$3 want=$4
    bytes "$2" >input
    shift 4
    got=$("$prog" "$@" <input 2>/dev/null)
    rc=$?
    if [ "$rc" -eq "$exit" ] && [ "$got" = "$want" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name: exit $rc, output '$got'"
    fi
}

t "empty input" "" 0 "0 good, 0 bad, 0 lost"
t "hello and bye, Fletcher" "a55a0001000801026e3100000007fcb2a55a00040001001205" 0 "packet at 0, 8 bytes
  hello 'n1' node 7 version 1
packet at 16, 1 bytes
  bye: done
2 good, 0 bad, 0 lost"
t "CRC, urgent, message" "a55a8101000d030770726f62652d3900010000dfc1a55a0104000903686f7420636f7265ae85" 0 "packet at 0, 13 bytes
  urgent
  hello 'probe-9' node 65536 version 3
packet at 21, 9 bytes
  bye: fault, hot core
2 good, 0 bad, 0 lost"
t "all kinds of elements" "a55a0001000801026e3100000007fcb2a55a000200370000000101036162630202ffff0301fe03048000000003027fff0401010514000102030405060708090a0b0c0d0e0f1011121350027a7ad39d" 0 "packet at 0, 8 bytes
  hello 'n1' node 7 version 1
packet at 16, 55 bytes
  data 1
  string 'abc'
  integer 65535
  integer -2
  integer -2147483648
  integer 32767
  boolean true
  blob of 20 bytes, check 37be
  skipped tag 50
2 good, 0 bad, 0 lost
session is still open"
t "nested containers" "a55a0001000801026e3100000007fcb2a55a0002000e0000000181088203020107040100bb2f" 0 "packet at 0, 8 bytes
  hello 'n1' node 7 version 1
packet at 16, 14 bytes
  data 1
  container 01
    container 02
      integer 7
    boolean false
2 good, 0 bad, 0 lost
session is still open"
t "long form" "a55a0001000801026e3100000007fcb2a55a00020089000000010180827878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787863bd" 0 "packet at 0, 8 bytes
  hello 'n1' node 7 version 1
packet at 16, 137 bytes
  data 1
  string 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'
2 good, 0 bad, 0 lost
session is still open"
t "long form of a short length" "a55a0001000801026e3100000007fcb2a55a0002000c0000000101800578787878787cef" 2 "packet at 0, 8 bytes
  hello 'n1' node 7 version 1
packet at 16, 12 bytes
  data 1
error at byte 5: long form of a short length
1 good, 1 bad, 0 lost"
t "nested too deeply" "a55a0001000801026e3100000007fcb2a55a0002000e0000000181088106810481028100b9ac" 2 "packet at 0, 8 bytes
  hello 'n1' node 7 version 1
packet at 16, 14 bytes
  data 1
  container 01
    container 01
      container 01
        container 01
error at byte 14: containers nested too deeply
1 good, 1 bad, 0 lost"
t "element exceeds its container" "a55a0001000801026e3100000007fcb2a55a0002000a00000001810401036162de5a" 2 "packet at 0, 8 bytes
  hello 'n1' node 7 version 1
packet at 16, 10 bytes
  data 1
  container 01
error at byte 7: length 3 does not fit
1 good, 1 bad, 0 lost"
t "lost packets" "a55a0001000801026e3100000007fcb2a55a0002000400000005270ba55a00020004000000092b0fa55a000200040000000a2c10a55a00040001011306" 0 "5 good, 0 bad, 3 lost" -q
t "stale sequence number" "a55a0001000801026e3100000007fcb2a55a0002000400000005270ba55a0002000400000004260a" 2 "packet at 0, 8 bytes
  hello 'n1' node 7 version 1
packet at 16, 4 bytes
  data 5
packet at 28, 4 bytes
error at byte 0: stale sequence number 4
2 good, 1 bad, 0 lost"
t "sequence wraps" "a55a0001000801026e3100000007fcb2a55a00020004ffffffff2206a55a00020004000000012307" 0 "packet at 0, 8 bytes
  hello 'n1' node 7 version 1
packet at 16, 4 bytes
  data 4294967295
packet at 28, 4 bytes
  data 1
  1 packets lost
3 good, 0 bad, 1 lost
session is still open"
t "samples" "a55a0001000801026e3100000007fcb2a55a0003000c0205fdff05000080ff7ff5ff1a0f" 0 "packet at 0, 8 bytes
  hello 'n1' node 7 version 1
packet at 16, 12 bytes
  sensor 2: 5 samples from -32768 to 32767, mean -2
2 good, 0 bad, 0 lost
session is still open"
t "wrong check sum" "a55a0001000801026e3100000007fcb3" 2 "packet at 0, 8 bytes
error at byte 8: check sum is fcb3 instead of fcb2
0 good, 1 bad, 0 lost"
t "keep going" "a55a0001000801026e3100000007fcb2a55a00030004080101004e116a756e6ba55a000200060000000109005112a55a00040001021407a5" 2 "packet at 0, 8 bytes
  hello 'n1' node 7 version 1
packet at 16, 4 bytes
error at byte 0: no channel 8
offset 28: not a packet
packet at 32, 6 bytes
  data 1
error at byte 6: unknown tag 09
packet at 46, 1 bytes
  bye: restart
offset 55: not a packet
2 good, 4 bad, 0 lost" -k
t "no session" "a55a00040001001205" 2 "packet at 0, 1 bytes
error at byte 0: no session
0 good, 1 bad, 0 lost"
t "unknown type and flags" "a55a0001000801026e3100000007fcb2a55a000900001b09a55a04040001002609" 2 "error at byte 0: unknown type 9
error at byte 0: unknown flags 04
1 good, 2 bad, 0 lost" -kq
t "truncated" "a55a0001000801026e3100000007fc" 2 "offset 0: truncated packet
0 good, 1 bad, 0 lost"
t "usage" "" 3 "" -x

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
