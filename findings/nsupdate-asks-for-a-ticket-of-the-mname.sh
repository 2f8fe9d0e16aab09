#!/usr/bin/env bash
# Where `nsupdate -g` sends its messages, and whose ticket it takes, where `server` names another host than the zone's SOA record.
#
# Versions: bind9-dnsutils and bind9 9.18.49, krb5-kdc, krb5-admin-server and krb5-user 1.20.1 of Debian 12.
# Seen: the MNAME of the zone is ns1.c.example, which has no address. `server localhost PORT` is where TKEY and the update go, and
# the ticket is one of DNS/ns1.c.example. A server with the key of DNS/localhost cannot read it, and all that is said is `TKEY is
# unacceptable`. With the key of DNS/ns1.c.example the update is made.
# An engineer would have guessed: a ticket is for the host that is talked to, as it is with ssh, curl and LDAP; or, by the manual
# ("This command has no effect when GSS-TSIG is in use", of `server`), that the messages go to the MNAME as well.
set -euo pipefail
needs=(bind9 bind9-dnsutils krb5-kdc krb5-admin-server krb5-user python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
kdc=$(port) bind=$(port)
cat > krb5.conf <<CONF
[libdefaults]
  default_realm = EXAMPLE.COM
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
[realms]
  EXAMPLE.COM = {
    kdc = 127.0.0.1:$kdc
  }
[domain_realm]
  .c.example = EXAMPLE.COM
  localhost = EXAMPLE.COM
CONF
cat > kdc.conf <<CONF
[kdcdefaults]
  kdc_listen = 127.0.0.1:$kdc
  kdc_tcp_listen = 127.0.0.1:$kdc
[realms]
  EXAMPLE.COM = {
    database_name = $folder/principal
    key_stash_file = $folder/stash
    acl_file = $folder/acl
  }
CONF
export KRB5_CONFIG=$folder/krb5.conf KRB5_KDC_PROFILE=$folder/kdc.conf KRB5CCNAME=FILE:$folder/cache KRB5RCACHENAME=none:
kdb5_util create -s -P master >/dev/null 2>&1
for each in DNS/localhost DNS/ns1.c.example pc1; do
  kadmin.local -q "addprinc -randkey $each" >/dev/null 2>&1
  kadmin.local -q "ktadd -k $folder/$(tr / - <<< "$each").keytab $each" >/dev/null 2>&1
done
krb5kdc -n -P kdc.pid > kdc.log 2>&1 &
started+=($!)
for _ in $(seq 100); do kinit -k -t pc1.keytab pc1 2>/dev/null && break; sleep 0.1; done
status=0
tell() { # MNAME KEYTAB TICKETS ADDRESS SAID
  local pid said x want="tickets: $3; x: $4; nsupdate: $5"
  printf '%s\n' '$TTL 60' "@ SOA $1. hostmaster 1 3600 600 86400 60" '@ NS localhost.' > zone
  rm -f zone.jnl
  cat > named.conf <<CONF
options {
  directory "$folder"; pid-file none; listen-on port $bind { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; notify no;
  tkey-gssapi-keytab "$folder/DNS-$2.keytab";
};
controls { };
zone "c.example" { type primary; file "$folder/zone"; update-policy { grant pc1@EXAMPLE.COM zonesub ANY; }; };
CONF
  named -4 -g -c named.conf > bind.log 2>&1 &
  pid=$!
  started+=("$pid")
  for _ in $(seq 100); do grep -q ' running$' bind.log && break; sleep 0.1; done
  kinit -k -t pc1.keytab pc1
  printf '%s\n' "server localhost $bind" 'zone c.example.' 'update add x.c.example. 60 A 192.0.2.9' send |
    nsupdate -g > said 2>&1 || true
  said=$(grep -o 'TKEY is unacceptable' said || true)
  x=$(dig @127.0.0.1 -p "$bind" +short x.c.example A)
  said="tickets: $(klist | grep -o 'DNS/[^@]*' | sort -u | paste -sd ' '); x: ${x:-nothing}; nsupdate: ${said:-nothing}"
  echo "MNAME $1, key of $2, $said"
  [ "$said" = "$want" ] || { echo "  changed: it was $want"; status=1; }
  kill "$pid"
  wait "$pid" || true
}
tell localhost localhost DNS/localhost 192.0.2.9 nothing
tell ns1.c.example localhost DNS/ns1.c.example nothing 'TKEY is unacceptable'
tell ns1.c.example ns1.c.example DNS/ns1.c.example 192.0.2.9 nothing
exit $status
