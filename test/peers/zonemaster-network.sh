# A network of its own for zonemaster.test.ts: a root server, a node with four addresses, and Zonemaster.
# Arguments: folder with nsd.conf, hints and gslbd.yaml; node; the program of gslbd.
set -eu
cd "$1"
cat > root.sh <<'ROOT'
until ip link show veth1 > /dev/null 2>&1; do sleep 0.05; done
ip address add 198.41.0.4/24 dev veth1
ip address add 2001:503:ba3e::2:30/64 dev veth1 nodad
ip link set veth1 up
ip route add default via 198.41.0.1
ip route add default via 2001:503:ba3e::1
exec nsd -d -c nsd.conf
ROOT
ip link set lo up
ip link add veth0 type veth peer name veth1
ip address add 198.41.0.1/24 dev veth0
ip address add 2001:503:ba3e::1/64 dev veth0 nodad
for address in 11.1.1.53/32 44.2.2.53/32 2a01:1::53/128 2b02:2::53/128; do
  ip address add "$address" dev lo
done
outer=$(readlink /proc/$$/ns/net)
unshare --net sh root.sh > root.log 2>&1 &
root=$!
until [ "$(readlink "/proc/$root/ns/net")" != "$outer" ]; do sleep 0.05; done
ip link set veth1 netns "$root"
ip link set veth0 up
"$2" "$3" serve --settings gslbd.yaml > gslbd.log 2>&1 &
gslbd=$!
until grep -q 'bundle activated' gslbd.log; do kill -0 "$gslbd"; sleep 0.05; done
until grep -q 'nsd started' root.log; do kill -0 "$root"; sleep 0.05; done
zonemaster-cli --hints hints --level NOTICE --json gslb.test
kill "$gslbd" "$root"
