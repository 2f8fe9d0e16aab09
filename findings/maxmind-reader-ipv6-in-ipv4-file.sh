#!/usr/bin/env bash
# What MaxMind::DB::Reader answers for an IPv6 address where the file holds IPv4 networks alone.
#
# Versions: libmaxmind-db-reader-perl 1.000014 and libmaxmind-db-writer-perl 0.300003 of Debian 12; the
# Perl reader, without libmaxminddb.
# Seen: in a file of `ip_version` 4 with one network, 32.1.0.0/16, the address 2001:4860::1 is found. Its first 32
# bits, 32.1.72.96, are looked up as if they were an IPv4 address.
# An engineer would have guessed: an error, as maxminddb of Python and libmaxminddb give, or no record.
# Data sets that come as two files, such as those of ip-location-db, give wrong places so.
set -euo pipefail
needs=(libmaxmind-db-writer-perl libmaxmind-db-reader-perl)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
dpkg-query -W -f '${Package} ${Version}\n' libmaxmind-db-writer-perl libmaxmind-db-reader-perl

cat > "$folder/read.pl" <<'PERL'
use strict;
use warnings;
use MaxMind::DB::Reader::PP;
use MaxMind::DB::Writer::Tree;
my ($file) = @ARGV;
my $tree = MaxMind::DB::Writer::Tree->new(
    ip_version => 4, record_size => 24, database_type => 'Test', languages => ['en'],
    description => { en => 'test' }, map_key_type_callback => sub { 'utf8_string' },
);
$tree->insert_network('32.1.0.0/16', { country => 'ZZ' });
open my $out, '>', $file or die;
$tree->write_tree($out);
close $out;
my $reader = MaxMind::DB::Reader::PP->new(file => $file);
for my $address (qw(32.1.0.1 8.8.8.8 2001:4860::1 2a00::1)) {
    my $record = eval { $reader->record_for_address($address) };
    print "$address: ", $@ ? "error: $@" : $record ? $record->{country} : 'nothing', "\n";
}
PERL
seen=$(perl "$folder/read.pl" "$folder/v4.mmdb")
echo "$seen"
[ "$(sed -n 3p <<< "$seen")" = '2001:4860::1: ZZ' ] || { echo 'changed'; exit 1; }
