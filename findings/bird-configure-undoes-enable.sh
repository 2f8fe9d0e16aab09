#!/usr/bin/env bash
# What `birdc configure` makes of protocols that were enabled or disabled by birdc, when the file has not changed.
#
# Version: bird2 2.0.12 of Debian 12.
# Seen: a protocol that is `disabled` in the file and was enabled by `birdc enable` is down after `birdc configure`, with
# its routes, and one that was disabled by `birdc disable` is up. `configure soft`, which is to restart as little as it can, does the
# same. The file is as it was, and birdc says that it reconfigures, and nothing of a protocol.
# An engineer would have guessed: a reload without a change changes nothing, least of all with `soft`, and what was
# disabled by hand for maintenance stays so. `systemctl reload bird` is such a reload: it announces a drained site again.
set -euo pipefail
needs=(bird2)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
bird --version 2>&1

cat > bird.conf <<END
log "$folder/log" all;
router id 10.0.0.1;
protocol device {}
protocol static cold { disabled; ipv4; route 192.0.2.0/24 blackhole; }
protocol static warm { ipv4; route 198.51.100.0/24 blackhole; }
END
bird -f -c bird.conf -s bird.ctl -P pid > out 2>&1 & started+=($!)
say() { birdc -s bird.ctl "$@"; }
for _ in $(seq 100); do say show status 2> /dev/null | grep -q 'Daemon is up' && break; sleep 0.1; done
status=0
expect() { # WHAT STATES
  local said
  for _ in $(seq 30); do
    said=$(say show protocols | awk '$2 == "Static" { printf "%s %s ", $1, $4 }')
    [ "$said" = "$2 " ] && break
    sleep 0.1
  done
  echo "$1: ${said}with the routes $(say show route | grep -o '^[0-9.]*/[0-9]*' | tr '\n' ' ')"
  [ "$said" = "$2 " ] || { echo "  changed: it was $2"; status=1; }
}
turn() { say enable cold > said; say disable warm > said; }
expect 'at the start' 'cold down warm up'
turn
expect 'after enable cold and disable warm' 'cold up warm down'
say configure > said; tail -n 1 said
expect 'after configure' 'cold down warm up'
turn
expect 'after enable cold and disable warm' 'cold up warm down'
say configure soft > said; tail -n 1 said
expect 'after configure soft' 'cold down warm up'
exit "$status"
