#!/usr/bin/env bash
# Which address `pickclosest` of PowerDNS takes for clients near the date line and far in the north.
#
# Versions: pdns-server, pdns-backend-geoip and pdns-backend-bind 4.7.3, libmaxmind-db-writer-perl 0.300003 of Debian 12.
# Seen: distance is that of degrees on a flat map. A client in Honolulu gets the address in Frankfurt (11,960 km) and not
# the one in Tokyo (6,210 km), because the map ends between them. The other way round, Tokyo gets
# Honolulu. Reykjavik gets Madrid (2,890 km) and not Oslo (1,750 km): a degree of longitude counts there as at the
# equator, and is less than half as long.
# An engineer would have guessed: the closest on the globe, and the same distance in both directions.
set -euo pipefail
needs=(pdns-server pdns-backend-bind pdns-backend-geoip libmaxmind-db-writer-perl bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W -f '${Package} ${Version}\n' pdns-server pdns-backend-geoip libmaxmind-db-writer-perl

# Clients are of 198.51.100.0/24, addresses of 192.0.2.0/24.
declare -A client=([Honolulu]=198.51.100.1 [Tokyo]=198.51.100.2 [Reykjavik]=198.51.100.3)
declare -A city=([192.0.2.1]=Frankfurt [192.0.2.2]=Tokyo [192.0.2.3]=Honolulu [192.0.2.4]=Madrid [192.0.2.5]=Oslo)
perl - city.mmdb <<'PERL'
use strict;
use warnings;
use MaxMind::DB::Writer::Tree;
my %types = (continent => 'map', country => 'map', location => 'map', code => 'utf8_string', iso_code => 'utf8_string',
    latitude => 'double', longitude => 'double', accuracy_radius => 'uint16');
my $tree = MaxMind::DB::Writer::Tree->new(
    ip_version => 6, record_size => 24, database_type => 'GeoLite2-City', languages => ['en'], remove_reserved_networks => 0,
    description => { en => 'test' }, map_key_type_callback => sub { $types{ $_[0] } },
);
my %places = (
    '198.51.100.1' => [21.31, -157.86], '198.51.100.2' => [35.68, 139.69], '198.51.100.3' => [64.15, -21.94],
    '192.0.2.1' => [50.11, 8.68], '192.0.2.2' => [35.68, 139.69], '192.0.2.3' => [21.31, -157.86],
    '192.0.2.4' => [40.42, -3.70], '192.0.2.5' => [59.91, 10.75],
);
for my $address (keys %places) {
    my ($latitude, $longitude) = @{ $places{$address} };
    my $location = { latitude => $latitude, longitude => $longitude, accuracy_radius => 10 };
    $tree->insert_network("$address/32", { country => { iso_code => 'XX' }, location => $location });
}
open my $out, '>', $ARGV[0] or die;
$tree->write_tree($out);
PERL
cat > zone <<'END'
$ORIGIN example.test.
$TTL 60
@ SOA ns h 1 3600 600 86400 60
@ NS ns
ns A 192.0.2.53
frankfurt-tokyo LUA A "pickclosest({'192.0.2.1', '192.0.2.2'})"
frankfurt-honolulu LUA A "pickclosest({'192.0.2.1', '192.0.2.3'})"
madrid-oslo LUA A "pickclosest({'192.0.2.4', '192.0.2.5'})"
END
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
echo "zone \"example.test\" { type master; file \"$folder/zone\"; };" > named.conf
echo 'domains: []' > geo.yaml
cat > pdns.conf <<END
launch=bind,geoip
bind-config=$folder/named.conf
geoip-database-files=mmdb:$folder/city.mmdb
geoip-zones-file=$folder/geo.yaml
enable-lua-records=yes
edns-subnet-processing=yes
local-address=127.0.0.1
local-port=$port
socket-dir=$folder
security-poll-suffix=
zone-cache-refresh-interval=0
END
pdns_server --config-dir="$folder" > log 2>&1 & started+=($!)
ask() { dig @127.0.0.1 -p "$port" +tries=1 +time=2 +short "$1.example.test" A +subnet="${client[$2]}/32"; }
for _ in $(seq 100); do dig @127.0.0.1 -p "$port" +tries=1 +time=1 +short ns.example.test A | grep -q '^192' && break; sleep 0.1; done
status=0
expect() { # NAME CLIENT CITY
  local said; said=$(ask "$1" "$2")
  echo "$1: a client in $2 gets ${city[${said:-192.0.2.0}]-nothing}"
  [ "${city[${said:-192.0.2.0}]-nothing}" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect frankfurt-tokyo Honolulu Frankfurt
expect frankfurt-honolulu Tokyo Honolulu
expect madrid-oslo Reykjavik Madrid
exit "$status"
