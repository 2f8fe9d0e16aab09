#!/usr/bin/env bash
# What Caddy answers to a request whose Host has the final dot of a fully qualified name.
#
# Version: caddy 2.6.2 of Debian 12.
# Seen: a site `http://site.test` answers "hello" to `Host: site.test`. To `Host: site.test.`, which is
# the same name (RFC 3986 section 3.2.2), the answer is 200 with an empty body, of no site at all.
# An engineer would have guessed: the site, or 404 or 421 for a host that the server does not have.
# A probe that looks at the status alone takes a site that is not there for a good one.
set -euo pipefail
needs=(caddy curl python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
export HOME=$folder XDG_DATA_HOME=$folder XDG_CONFIG_HOME=$folder
caddy version
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port=$(/usr/bin/python3 -c "$free")

cat > "$folder/Caddyfile" <<END
{
  admin off
  auto_https off
}
http://site.test:$port {
  bind 127.0.0.1
  respond "hello"
}
END
caddy run --config "$folder/Caddyfile" --adapter caddyfile > "$folder/log" 2>&1 &
server=$!
for _ in $(seq 100); do
  curl -s -o /dev/null "http://127.0.0.1:$port/" && break
  sleep 0.1
done

ask() { curl -s -H "Host: $1" -w ' %{http_code}' "http://127.0.0.1:$port/"; }
plain=$(ask site.test) dotted=$(ask site.test.) strange=$(ask other.test)
printf '%s:%s\n' site.test "$plain" site.test. "$dotted" other.test "$strange"
[ "$plain" = 'hello 200' ] && [ "$dotted" = ' 200' ] || { echo 'changed'; exit 1; }
