#!/usr/bin/env bash
# Where PowerDNS takes clients and addresses to be that its geo database has no place for, and when that is so.
#
# Versions: pdns-server, pdns-backend-geoip and pdns-backend-bind 4.7.3, libmaxmind-db-writer-perl 0.300003 of Debian 12.
# Seen: `latlon` and `pickclosest` take whatever has no place for 0 degrees north and 0 east, in the sea south of Ghana.
# Clients whose network has a country and no place, and those that the database does not know, all get the
# address in Lagos and not the one in Frankfurt. In a database whose places have no `accuracy_radius` nobody has a
# place: each client and each address is there, and `pickclosest` takes any of them. Nothing is logged.
# An engineer would have guessed: an unknown client gets any of the addresses, or the first; latitude and longitude
# are all that is needed for a place.
set -euo pipefail
needs=(pdns-server pdns-backend-bind pdns-backend-geoip libmaxmind-db-writer-perl bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W -f '${Package} ${Version}\n' pdns-server pdns-backend-geoip libmaxmind-db-writer-perl

cat > write.pl <<'PERL'
# FILE FIELDS...: a database of cities, whose places have these fields.
use strict;
use warnings;
use MaxMind::DB::Writer::Tree;
my ($file, @fields) = @ARGV;
my %types = (country => 'map', location => 'map', iso_code => 'utf8_string',
    latitude => 'double', longitude => 'double', accuracy_radius => 'uint16');
my $tree = MaxMind::DB::Writer::Tree->new(
    ip_version => 6, record_size => 24, database_type => 'GeoLite2-City', languages => ['en'], remove_reserved_networks => 0,
    description => { en => 'test' }, map_key_type_callback => sub { $types{ $_[0] } },
);
# Madrid, a network of a country alone, Frankfurt, Lagos.
my %places = ('198.51.100.1' => [40.42, -3.70], '198.51.100.2' => undef,
    '192.0.2.1' => [50.11, 8.68], '192.0.2.2' => [6.45, 3.39]);
for my $address (keys %places) {
    my %record = (country => { iso_code => 'ES' });
    if (my $place = $places{$address}) {
        my %all = (latitude => $place->[0], longitude => $place->[1], accuracy_radius => 10);
        $record{location} = { map { $_ => $all{$_} } @fields };
    }
    $tree->insert_network("$address/32", \%record);
}
open my $out, '>', $file or die;
$tree->write_tree($out);
PERL
perl write.pl full.mmdb latitude longitude accuracy_radius
perl write.pl without.mmdb latitude longitude
cat > zone <<'END'
$ORIGIN example.test.
$TTL 60
@ SOA ns h 1 3600 600 86400 60
@ NS ns
ns A 192.0.2.53
frankfurt-lagos LUA A "pickclosest({'192.0.2.1', '192.0.2.2'})"
place LUA TXT "latlon()"
END
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
echo "zone \"example.test\" { type master; file \"$folder/zone\"; };" > named.conf
echo 'domains: []' > geo.yaml
declare -A at
for kind in full without; do
  at[$kind]=$(port)
  mkdir "$kind"
  cat > "$kind/pdns.conf" <<END
launch=bind,geoip
bind-config=$folder/named.conf
geoip-database-files=mmdb:$folder/$kind.mmdb
geoip-zones-file=$folder/geo.yaml
enable-lua-records=yes
edns-subnet-processing=yes
local-address=127.0.0.1
local-port=${at[$kind]}
socket-dir=$folder/$kind
security-poll-suffix=
zone-cache-refresh-interval=0
END
  pdns_server --config-dir="$folder/$kind" > "$kind/log" 2>&1 & started+=($!)
done
ask() { dig @127.0.0.1 -p "${at[$1]}" +tries=1 +time=2 +short "$2.example.test" "$3" +subnet="$4/32"; }
for kind in full without; do
  for _ in $(seq 100); do ask "$kind" ns A 198.51.100.1 | grep -q '^192' && break; sleep 0.1; done
done
status=0
expect() { # DATABASE CLIENT NAME TYPE SAID
  local said; said=$(ask "$1" "$3" "$4" "$2")
  echo "database $1, client $2: $3 is $said"
  [ "$said" = "$5" ] || { echo "  changed: it was $5"; status=1; }
}
expect full 198.51.100.1 place TXT '"40.420000 -3.700000"'
expect full 198.51.100.1 frankfurt-lagos A 192.0.2.1
expect full 198.51.100.2 place TXT '"0.000000 0.000000"'
expect full 198.51.100.2 frankfurt-lagos A 192.0.2.2
expect full 198.51.100.99 frankfurt-lagos A 192.0.2.2
expect without 198.51.100.1 place TXT '"0.000000 0.000000"'
several=$(for _ in $(seq 40); do ask without frankfurt-lagos A 198.51.100.1; done | sort -u | tr '\n' ' ')
echo "database without, client 198.51.100.1, 40 questions: frankfurt-lagos is $several"
[ "$several" = '192.0.2.1 192.0.2.2 ' ] || { echo '  changed'; status=1; }
exit "$status"
