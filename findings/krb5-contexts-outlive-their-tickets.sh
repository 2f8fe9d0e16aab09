#!/usr/bin/env bash
# What the GSS-API of MIT Kerberos says of the end of a security context, on both sides, and what it does after it.
#
# Versions: libgssapi-krb5-2, krb5-kdc, krb5-admin-server and krb5-user 1.20.1, python3-gssapi 1.8.2 of Debian 12.
# Seen: with a ticket for six seconds the client's context has a lifetime of 6, and the server's one of 306: `clockskew`
# is added (300 by default; with 2 it is 8). When both have ended, gss_context_time says that the context has expired,
# and gss_get_mic, gss_verify_mic, gss_wrap and gss_unwrap go on as before, on both sides.
# An engineer would have guessed: both sides of a context tell one end, and RFC 2743 section 2.3 gives these calls
# GSS_S_CONTEXT_EXPIRED for what comes after it. A server that should stop then has to look at the clock for itself.
set -euo pipefail
needs=(krb5-kdc krb5-admin-server krb5-user libgssapi-krb5-2 python3-gssapi python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
config() { # CLOCKSKEW
  cat > krb5.conf <<CONF
[libdefaults]
  default_realm = EXAMPLE.COM
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  clockskew = $1
[realms]
  EXAMPLE.COM = {
    kdc = 127.0.0.1:$port
  }
CONF
}
config 300
cat > kdc.conf <<CONF
[kdcdefaults]
  kdc_listen = 127.0.0.1:$port
  kdc_tcp_listen = 127.0.0.1:$port
[realms]
  EXAMPLE.COM = {
    database_name = $folder/principal
    key_stash_file = $folder/stash
    acl_file = $folder/acl
  }
CONF
export KRB5_CONFIG=$folder/krb5.conf KRB5_KDC_PROFILE=$folder/kdc.conf KRB5CCNAME=FILE:$folder/cache KRB5RCACHENAME=file2:$folder/rcache
kdb5_util create -s -P master >/dev/null 2>&1
for each in DNS/ns1.example.com pc1; do
  kadmin.local -q "addprinc -randkey $each" >/dev/null 2>&1
  kadmin.local -q "ktadd -k $folder/${each%%/*}.keytab $each" >/dev/null 2>&1
done
krb5kdc -n -P kdc.pid > kdc.log 2>&1 &
started+=($!)
export KRB5_KTNAME=FILE:$folder/DNS.keytab
cat > ask.py <<'PY'
# SECONDS: makes a context of two sides, waits, and says what they do then.
import sys, time
import gssapi
target = gssapi.Name("DNS/ns1.example.com@EXAMPLE.COM", gssapi.NameType.kerberos_principal)
client = gssapi.SecurityContext(name=target, usage="initiate", mech=gssapi.MechType.kerberos)
server = gssapi.SecurityContext(creds=gssapi.Credentials(usage="accept"), usage="accept")
reply = server.step(client.step())
if not client.complete:
    client.step(reply)
time.sleep(int(sys.argv[1]))
def said(call):
    try:
        return str(call())
    except gssapi.exceptions.ExpiredContextError:
        return "expired"
def signed(one, other):
    other.verify_signature(b"x", one.get_signature(b"x"))
    return other.decrypt(one.encrypt(b"x")) == b"x"
print(f"client {said(lambda: client.lifetime)}, server {said(lambda: server.lifetime)};",
      f"the server takes what the client signs: {said(lambda: signed(client, server))},",
      f"and the other way round: {said(lambda: signed(server, client))}")
PY
status=0
tell() { # CLOCKSKEW SECONDS CLIENT SERVER
  config "$1"
  for _ in $(seq 100); do kinit -l 6s -k -t pc1.keytab pc1 2>/dev/null && break; sleep 0.1; done
  local said want="client $3, server $4; the server takes what the client signs: True, and the other way round: True"
  said=$(/usr/bin/python3 ask.py "$2") || true
  echo "clockskew $1, after $2 s: lifetime of the $said"
  [ "$said" = "$want" ] || { echo "  changed: it was $want"; status=1; }
}
tell 300 0 6 306
tell 2 0 6 8
tell 2 10 expired expired
exit $status
