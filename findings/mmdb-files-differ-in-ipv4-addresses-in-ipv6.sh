#!/usr/bin/env bash
# Whether readers of MMDB files find an IPv4 address that is given in its IPv6 form, ::ffff:192.0.2.1, as sockets for both
# families give it.
#
# Versions: mmdb-bin (libmaxminddb) 1.7.1, python3-maxminddb 2.2.0, nginx 1.22.1 with libnginx-mod-http-geoip2 3.4 and
# libmaxmind-db-writer-perl 0.300003 of Debian 12; npm package @ip-location-db/geo-whois-asn-country-mmdb 2.3.2026061719.
# Seen: no reader takes such an address for the IPv4 one. It is found where the file has an alias for ::ffff:0:0/96, as those
# that are written with `alias_ipv6_to_ipv4` do, and not in others: in the tables of ip-location-db 8.8.8.8 is in the US, and
# ::ffff:8.8.8.8 nowhere. So nginx with `listen [::]:PORT ipv6only=off` knows the country of IPv4 clients by
# one file, and of none by the other; with `listen PORT` it knows them by both.
# An engineer would have guessed: readers know the form, or all files have the aliases: with the first file the program was
# right for years.
set -euo pipefail
needs=(mmdb-bin python3-maxminddb nginx libnginx-mod-http-geoip2 libmaxmind-db-writer-perl curl)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
PATH=$PATH:/usr/sbin
dpkg-query -W -f '${Package} ${Version}\n' mmdb-bin python3-maxminddb nginx libnginx-mod-http-geoip2 libmaxmind-db-writer-perl
npm pack --silent @ip-location-db/geo-whois-asn-country-mmdb@2.3.2026061719
tar xzf ./*.tgz package/geo-whois-asn-country.mmdb
mv package/geo-whois-asn-country.mmdb ip-location-db.mmdb

cat > write.pl <<'PERL'
# FILE ALIASES: a table of countries in which 8.8.8.0/24 and 127.0.0.0/8 are in the US.
use strict;
use warnings;
use MaxMind::DB::Writer::Tree;
my ($file, $aliases) = @ARGV;
my $tree = MaxMind::DB::Writer::Tree->new(
    ip_version => 6, record_size => 24, database_type => 'Test-Country', languages => ['en'], remove_reserved_networks => 0,
    alias_ipv6_to_ipv4 => $aliases, description => { en => 'test' }, map_key_type_callback => sub { 'utf8_string' },
);
$tree->insert_network($_, { country_code => 'US' }) for qw(8.8.8.0/24 127.0.0.0/8);
open my $out, '>', $file or die;
$tree->write_tree($out);
PERL
perl write.pl aliases.mmdb 1
perl write.pl none.mmdb 0
cat > read.py <<'PYTHON'
# FILE ADDRESS: the country, by the extension in C and by the code in Python.
import sys
import maxminddb
for mode in (maxminddb.MODE_MMAP_EXT, maxminddb.MODE_MEMORY):
    with maxminddb.open_database(sys.argv[1], mode) as reader:
        print((reader.get(sys.argv[2]) or {}).get('country_code', 'unknown'))
PYTHON
country() { # FILE ADDRESS: of all readers, once where they agree
  { mmdblookup --file "$1.mmdb" --ip "$2" country_code 2> /dev/null | sed -n 's/.*"\(.*\)".*/\1/p' | grep . || echo unknown
    /usr/bin/python3 read.py "$1.mmdb" "$2"; } | sort -u | tr '\n' ' '
}
status=0
expect() { # FILE ADDRESS SAID
  local said; said=$(country "$1" "$2")
  echo "$1, $2: $said"
  [ "$said" = "$3 " ] || { echo "  changed: it was $3"; status=1; }
}
expect aliases 8.8.8.8 US
expect aliases ::ffff:8.8.8.8 US
expect none 8.8.8.8 US
expect none ::ffff:8.8.8.8 unknown
expect ip-location-db 8.8.8.8 US
expect ip-location-db ::ffff:8.8.8.8 unknown

port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
both=$(port) ipv4=$(port)
cat > nginx.conf <<END
load_module /usr/lib/nginx/modules/ngx_http_geoip2_module.so;
daemon off; pid $folder/pid; error_log stderr; worker_processes 1;
events { }
http {
  access_log off;
  geoip2 $folder/aliases.mmdb { \$by_aliases default=unknown country_code; }
  geoip2 $folder/none.mmdb { \$by_none default=unknown country_code; }
  server {
    listen [::]:$both ipv6only=off;
    listen $ipv4;
    location / { return 200 "\$remote_addr \$by_aliases \$by_none"; }
  }
}
END
nginx -c "$folder/nginx.conf" > nginx.log 2>&1 & server=$!
tell() { # WHAT PORT SAID
  local said; said=$(curl -s --retry 20 --retry-connrefused --retry-delay 0 "http://127.0.0.1:$2/")
  echo "nginx, $1: address, country with aliases, without: $said"
  [ "$said" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
tell 'both families' "$both" '::ffff:127.0.0.1 US unknown'
tell 'IPv4' "$ipv4" '127.0.0.1 US US'
exit "$status"
