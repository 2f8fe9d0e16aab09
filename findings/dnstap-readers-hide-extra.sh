#!/usr/bin/env bash
# Which readers of dnstap files show the field `extra` of a message.
#
# Versions: dnstap-read of bind9-dnsutils 9.18.49, dnstap of golang-github-dnstap-golang-dnstap-cli 0.4.0, fstrm_dump
# of fstrm-bin 0.6.1, protoc of protobuf-compiler 3.21.12, all of Debian 12.
# Seen: dnstap.proto has `identity`, `version` and `extra` beside each other. The longest forms of the
# readers (`dnstap-read -y`, `dnstap -y`, `dnstap -j`) show the first two and leave `extra` out without a word.
# protoc, given the octets of the frame, has it as field 3.
# An engineer would have guessed: forms in YAML and JSON, made for programs, hold every field.
set -euo pipefail
needs=(bind9-dnsutils golang-github-dnstap-golang-dnstap-cli fstrm-bin protobuf-compiler python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
dpkg-query -W -f '${Package} ${Version}\n' bind9-dnsutils \
  golang-github-dnstap-golang-dnstap-cli protobuf-compiler

/usr/bin/python3 - <<'PYTHON'
# Writes a Frame Streams file with one dnstap message, and the message alone.
import struct
def number(n):
    out = b''
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])
def field(no, value):
    if isinstance(value, int): return number(no << 3) + number(value)
    return number(no << 3 | 2) + number(len(value)) + value
name = b'\3www\7example\0\0\1\0\1'
reply = struct.pack('>HHHHHH', 7, 0x8400, 1, 1, 0, 0) + name
reply += b'\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc0\0\2\1'
message = field(1, 2) + field(2, 1) + field(3, 1) + field(4, bytes([198, 51, 100, 7]))
message += field(6, 4000) + field(12, 1700000000) + field(14, reply)
frame = field(1, b'node-1') + field(2, b'server 1') + field(3, b'note-of-the-sender')
frame += field(14, message) + field(15, 1)
kind = b'protobuf:dnstap.Dnstap'
def control(code, body=b''):
    return struct.pack('>III', 0, 4 + len(body), code) + body
start = control(2, struct.pack('>II', 1, len(kind)) + kind)
open('queries.dnstap', 'wb').write(start + struct.pack('>I', len(frame)) + frame + control(3))
open('frame', 'wb').write(frame)
PYTHON

status=0
expect() { # SHOWN COMMAND...
  local shown=$1 said; shift
  said=$("$@" 2> /dev/null)
  grep -q node-1 <<< "$said" || { echo "$*: does not read the file"; status=1; return; }
  local seen=no; grep -q note-of-the-sender <<< "$said" && seen=yes
  echo "$*: extra shown: $seen"
  [ "$seen" = "$shown" ] || { echo '  changed'; status=1; }
}
raw() { protoc --decode_raw < frame; }
expect no dnstap-read -y queries.dnstap
expect no dnstap -y -r queries.dnstap
expect no dnstap -j -r queries.dnstap
expect yes fstrm_dump queries.dnstap
expect yes raw
exit "$status"
