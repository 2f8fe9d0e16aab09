#!/usr/bin/env bash
# Whether zone files that ldns, pdnsutil and dnspython write are the ones that they have read.
#
# Versions: ldnsutils 1.8.3, pdns-server 4.7.3 with pdns-backend-sqlite3, python3-dnspython 2.3.0, bind9-utils 9.18.49 of Debian 12.
# Seen: each writes a character without the quotes or the backslash that it had, so that a reader makes something else of it:
# - ldns-read-zone, whose form is that of ldns-signzone: key667="a;b" of SVCB becomes key667=a;b, which is key667=a and a comment.
# - pdnsutil list-zone: a PTR to a\;b becomes a;b.c.example, which is a and a comment.
# - dnspython: the quotes and backslashes in a URI record stand there as they are: one is lost, or the line cannot be read.
# named-compilezone, given the same file, writes all of them so that they read the same. No tool says anything.
# An engineer would have guessed: what a tool writes, it reads as the same.
set -euo pipefail
needs=(ldnsutils pdns-server pdns-backend-sqlite3 sqlite3 python3-dnspython bind9-utils)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
ldns() { ldns-read-zone "$1" 2>/dev/null; }
powerdns() {
  local state; state=$(mktemp -d -p "$folder")
  sqlite3 "$state/db" < /usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql
  printf '%s\n' launch=gsqlite3 "gsqlite3-database=$state/db" > "$state/pdns.conf"
  pdnsutil --config-dir="$state" load-zone c.example "$1" >/dev/null 2>&1
  pdnsutil --config-dir="$state" list-zone c.example 2>/dev/null
}
dnspython() {
  /usr/bin/python3 -c '
import dns.zone, sys
dns.zone.from_file(sys.argv[1], "c.example.", relativize=False).to_file(sys.stdout.buffer, relativize=False)' "$1" 2>/dev/null
}
bind() { named-compilezone -q -i none -o - c.example "$1" || true; }
record() { awk '$1 ~ /^x\.c\.example\.?$/ {$1 = $2 = $3 = ""; print}' | sed 's/^ *//; s/ *$//'; }
status=0
round() { # TOOL RECORD WRITTEN READ-AGAIN READ-BY-BIND
  printf '%s\n' '$TTL 60' '@ SOA ns hostmaster 1 3600 600 86400 60' '@ NS ns' 'ns A 192.0.2.1' '$ORIGIN c.example.' "x $2" > zone
  if [ "$1" = ldns ]; then sed -i 's/^@ SOA/c.example. SOA/; 1i $ORIGIN c.example.' zone; fi
  "$1" zone > written || true
  "$1" written > again 2>/dev/null || true
  local said; said="$(record < written) | $(record < again) | $(bind written 2>/dev/null | record)"
  echo "$1, $2: $said"
  [ "$said" = "$3 | $4 | $5" ] || { echo "  changed: it was $3 | $4 | $5"; status=1; }
}
echo 'tool, record: as the tool writes it | as it reads that | as BIND reads that'
round ldns 'SVCB 1 . key667="a;b"' 'SVCB 1 . key667=a;b' 'SVCB 1 . key667=a' 'SVCB 1 . key667="a"'
round powerdns 'PTR a\;b' 'PTR a;b.c.example' 'PTR a' 'PTR a.'
round dnspython 'URI 1 1 "http://h/a\\b"' 'URI 1 1 "http://h/a\b"' 'URI 1 1 "http://h/ab"' 'URI 1 1 "http://h/ab"'
round dnspython 'URI 1 1 "http://h/\"a\""' 'URI 1 1 "http://h/"a""' '' ''
for each in 'SVCB 1 . key667="a;b"' 'PTR a\;b.c.example.' 'URI 1 1 "http://h/a\\b"' 'URI 1 1 "http://h/\"a\""'; do
  round bind "$each" "$each" "$each" "$each"
done
exit $status
