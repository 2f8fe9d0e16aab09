#!/usr/bin/env bash
# What MaxMind::DB::Writer makes of private and other reserved networks that it is told to insert.
#
# Versions: libmaxmind-db-writer-perl 0.300003 and libmaxmind-db-reader-perl 1.000014 of Debian 12.
# Seen: `insert_network('10.0.0.0/8', ...)` returns without error or warning, and the file has nothing of it. The same
# goes for 192.168.0.0/16, 100.64.0.0/10 and 192.0.2.0/24; 8.8.8.0/24 beside them is there.
# With `remove_reserved_networks => 0` all of them are there.
# An engineer would have guessed: an error for a network that cannot be written. A table of the
# offices of a company, which are such networks, is silently empty.
set -euo pipefail
needs=(libmaxmind-db-writer-perl libmaxmind-db-reader-perl)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
dpkg-query -W -f '${Package} ${Version}\n' libmaxmind-db-writer-perl libmaxmind-db-reader-perl

cat > "$folder/write.pl" <<'PERL'
use strict;
use warnings;
use MaxMind::DB::Reader;
use MaxMind::DB::Writer::Tree;
my ($file, @options) = @ARGV;
my $tree = MaxMind::DB::Writer::Tree->new(
    ip_version => 4, record_size => 24, database_type => 'Test', languages => ['en'],
    description => { en => 'test' }, map_key_type_callback => sub { 'utf8_string' }, @options,
);
for my $net (qw(10.0.0.0/8 192.168.0.0/16 100.64.0.0/10 192.0.2.0/24 8.8.8.0/24)) {
    $tree->insert_network($net, { country => 'DE' });
}
open my $out, '>', $file or die;
$tree->write_tree($out);
close $out;
my $reader = MaxMind::DB::Reader->new(file => $file);
print join(' ', grep { $reader->record_for_address($_) }
    qw(10.0.0.1 192.168.0.1 100.64.0.1 192.0.2.1 8.8.8.8)), "\n";
PERL
plain=$(perl "$folder/write.pl" "$folder/plain.mmdb" 2>&1)
kept=$(perl "$folder/write.pl" "$folder/kept.mmdb" remove_reserved_networks 0 2>&1)
printf 'of 10.0.0.1 192.168.0.1 100.64.0.1 192.0.2.1 8.8.8.8 are there\n'
printf '%s: %s\n' 'as it is' "$plain" 'remove_reserved_networks 0' "$kept"
[ "$plain" = 8.8.8.8 ] && [ "$kept" = '10.0.0.1 192.168.0.1 100.64.0.1 192.0.2.1 8.8.8.8' ] ||
  { echo 'changed'; exit 1; }
