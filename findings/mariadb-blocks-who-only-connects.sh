#!/usr/bin/env bash
# After how many connections without a login mariadbd takes no more from an address.
#
# Versions: mariadb-server-core 10.11.19 of Debian 12.
# Seen: after 100 connections that are opened and closed, each later one from this address is told
# "Host '127.0.0.2' is blocked because of many connection errors" (`max_connect_errors`), though TCP
# still connects. A login in between begins the count anew, as FLUSH HOSTS does. With
# `skip_name_resolve` nobody is blocked, and 127.0.0.1 never is.
# An engineer would have guessed: a connection that sends nothing is no error, and who is blocked
# cannot connect, so that a probe of the port sees it.
set -euo pipefail
needs=(mariadb-server-core mariadb-client-core python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
mariadbd --version
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port=$(/usr/bin/python3 -c "$free")
mariadb-install-db --no-defaults --datadir="$folder/data" --user="$(id -un)" --skip-test-db \
  --auth-root-authentication-method=normal > install.log 2>&1
sql() { mariadb --no-defaults -S "$folder/socket" -u root -N -e "$1"; }
start() { # OPTION...
  mariadbd --no-defaults --datadir="$folder/data" --socket="$folder/socket" --pid-file="$folder/pid" \
    --user="$(id -un)" --bind-address=127.0.0.1 --port="$port" --innodb-buffer-pool-size=8M "$@" > log 2>&1 &
  started+=($!)
  for _ in $(seq 120); do sql 'SELECT 1' > up 2>&1 && break; sleep 0.5; done
}

cat > probe.py <<'PYTHON'
# Connects COUNT times from an address and closes, or logs in once; then says what the server says.
import socket, struct, sys
port, source, count = int(sys.argv[1]), sys.argv[2], sys.argv[3]
connect = lambda: socket.create_connection(('127.0.0.1', port), 10, (source, 0))
def login():
    # CLIENT_LONG_PASSWORD, PROTOCOL_41 and SECURE_CONNECTION; the user has no password.
    body = struct.pack('<IIB', 0x8201, 1 << 24, 33) + bytes(23) + b'probe\0' + b'\0'
    with connect() as connection:
        connection.recv(400)
        connection.sendall(struct.pack('<I', len(body) | 1 << 24) + body)
        return 'logged in' if connection.recv(400)[4:5] == b'\0' else 'no login'
def greeting():
    for _ in range(int(count)): connect().close()
    with connect() as connection:
        return 'blocked' if b'is blocked because of many' in connection.recv(400) else 'greeted'
print(login() if count == 'login' else greeting())
PYTHON
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo '  changed'; status=1; }
}
probe() { /usr/bin/python3 probe.py "$port" "$1" "$2"; }

start
sql "CREATE USER probe@'%'"
expect 'max_connect_errors' "$(sql 'SELECT @@max_connect_errors')" 100
expect '127.0.0.1, 150 connections' "$(probe 127.0.0.1 150)" greeted
expect '127.0.0.2, 50 connections' "$(probe 127.0.0.2 50)" greeted
expect '127.0.0.2, 100 more' "$(probe 127.0.0.2 100)" blocked
expect '127.0.0.3, 1 connection' "$(probe 127.0.0.3 1)" greeted
sql 'FLUSH HOSTS'
expect '127.0.0.2 after FLUSH HOSTS, 80 connections' "$(probe 127.0.0.2 80)" greeted
expect '127.0.0.2, a login' "$(probe 127.0.0.2 login)" 'logged in'
expect '127.0.0.2, 80 more' "$(probe 127.0.0.2 80)" greeted
kill "${started[0]}"; wait "${started[0]}" || true
start --skip-name-resolve
expect '127.0.0.2 with skip_name_resolve, 150 connections' "$(probe 127.0.0.2 150)" greeted
exit "$status"
