#!/usr/bin/env bash
# Walks the API from the first account to the last logout with curl; openssl and coreutils make the second factor.
#
#   GSLB_URL            http://127.0.0.1:8080
#   GSLB_API_KEY        the system key that the node was started with
#   GSLB_LICENSE_TOKEN  a licence for a node with a vendor's key, as `gslbd license keygen` and `gslbd license issue --key FILE
#                       --tier enterprise` make them; empty: none is applied
#
# The node must be new, without single sign-on: an account can be set up only where there never was one. Each call is printed with
# its status; a status that is not the expected one ends the walk with exit code 1.
set -euo pipefail

url=${GSLB_URL:-http://127.0.0.1:8080}
key=${GSLB_API_KEY:?set it to the system key of the node}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
credential=("Authorization: Bearer $key")

# call EXPECTED METHOD PATH [BODY]: the answer's body is in $answer.
call() {
  local expected=$1 method=$2 path=$3 body=${4-} status
  local options=(-s -o "$work/body" -D "$work/head" -w '%{http_code}' -X "$method" -H "${credential[0]}")
  if [ -n "$body" ]; then options+=(-H 'Content-Type: application/json' --data "$body"); fi
  status=$(curl "${options[@]}" "$url/api/v1$path")
  check "$expected" "$status" "$method" "$path"
}

# upgrade EXPECTED PATH: asks for a WebSocket. What comes over it is not for curl to read.
upgrade() {
  local expected=$1 path=$2 status
  local handshake=(-H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13'
    -H "Sec-WebSocket-Key: $(openssl rand -base64 16)")
  # A connection that stays open is ended by the time, which is an error to curl.
  status=$(curl -s --http1.1 --max-time 10 -o "$work/body" -w '%{http_code}' "${handshake[@]}" "$url/api/v1$path" || true)
  check "$expected" "$status" GET "${path%%\?*}"
}

# check EXPECTED STATUS METHOD PATH: prints the call, and takes the body from its file.
check() {
  answer=$(tr -d '\0' < "$work/body" 2>/dev/null || true)
  printf '%s %s %s\n' "$2" "$3" "$4"
  [ "$2" = "$1" ] || { printf 'expected %s: %s\n' "$1" "$answer" >&2; exit 1; }
}

# field NAME: the first string of that name in the last answer.
field() { printf '%s' "$answer" | grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }

# wants TEXT: the last answer has it.
wants() {
  case $answer in *"$1"*) ;; *) printf 'expected %s in: %s\n' "$1" "$answer" >&2; exit 1 ;; esac
}

# totp SECRET: the code of this half minute (RFC 6238).
totp() {
  local hex hash offset
  hex=$(printf '%s' "$1" | base32 -d | od -An -v -tx1 | tr -d ' \n')
  hash=$(printf '%016x' $(($(date +%s) / 30)) | sed 's/../\\x&/g' | xargs -0 printf '%b' |
    openssl dgst -sha1 -mac HMAC -macopt "hexkey:$hex" -binary | od -An -v -tx1 | tr -d ' \n')
  offset=$((16#${hash:39:1} * 2))
  printf '%06d' $(((16#${hash:$offset:8} & 0x7fffffff) % 1000000))
}

# What there is to call.
call 200 GET /openapi.json
call 200 GET /docs
call 200 GET /docs/page.js

# The first account, and who is asking.
# Before the first change there is nothing to answer with.
call 503 GET /ready
call 200 GET /health
# A new node makes its database in its first seconds.
while curl -s "$url/api/v1/ready" | grep -q database-away; do sleep 1; done
call 200 GET /auth/config
wants '"oidcEnabled":false'
call 404 GET /auth/oidc/authorize
call 404 GET '/auth/oidc/callback?code=none&state=none'
wants 'single sign-on is not set up'
call 201 POST /auth/setup '{"email":"ann@example.com","password":"correct horse"}'
call 404 POST /auth/setup '{"email":"eve@example.com","password":"correct horse"}'
call 401 POST /auth/login '{"email":"ann@example.com","password":"wrong horse"}'
call 200 POST /auth/login '{"email":"ann@example.com","password":"correct horse"}'
session=$(field token)
credential=("Authorization: Bearer $session")
call 200 GET /auth/me
wants '"isSystemAdmin":true'

# A name that is answered: a pool, its members, a service.
call 201 POST /pools '{"name":"web"}'
pool=$(field id)
call 409 POST /pools '{"name":"web"}'
call 200 GET /pools
call 200 GET "/pools/$pool"
call 201 POST "/pools/$pool/members" '{"ipAddress":"192.0.2.10","port":443,"weight":3}'
member=$(field id)
call 201 POST "/pools/$pool/members" '{"ipAddress":"198.51.100.10","port":443}'
spare=$(field id)
call 400 POST "/pools/$pool/members" '{"ipAddress":"192.0.2.300","port":443}'
wants ipAddress
call 200 GET "/pools/$pool/members"
call 200 GET "/members/$member"
call 200 PUT "/members/$member" '{"weight":5,"region":"DE"}'
call 200 PATCH "/members/$member" '{"region":null}'
wants '"region":"unknown"'
call 200 GET "/members/$member/status"
wants '"reason":""'
call 200 GET "/pools/$pool/status"
call 200 GET "/pools/$pool/health-history"
call 200 GET /client-regions
call 200 GET /health/members
call 201 POST /services "{\"name\":\"www\",\"domain\":\"www.example.com.\",\"poolId\":\"$pool\"}"
service=$(field id)
call 200 GET /services
call 200 GET "/services/$service"
call 200 PUT "/services/$service" \
  "{\"name\":\"www\",\"domain\":\"www.example.com.\",\"algorithm\":\"weighted-round-robin\",\"ttl\":30,\"poolId\":\"$pool\"}"
call 200 PATCH "/services/$service" '{"onAllDown":"all","answerCount":2}'
wants '"ttl":30'
call 200 PUT "/pools/$pool" '{"name":"website"}'
call 200 PATCH "/pools/$pool" '{"minHealthy":1}'
wants '"name":"website"'

# Records stand in zones that gslb.yaml declares, and the repository of a new node has none.
call 200 GET '/records?zone=example.com.&type=TXT'
call 400 POST /records '{"zone":"example.com.","name":"_acme-challenge.www","type":"TXT","values":["\"token\""]}'
wants 'gslb.yaml declares no zone example.com.'
call 404 GET /records/none
call 404 PUT /records/none '{"values":["\"token\""]}'
call 404 PATCH /records/none '{"ttl":60}'
call 404 DELETE /records/none

# Why it is answered so, and what a code means.
call 200 POST /simulate '{"name":"www.example.com.","subnet":"203.0.113.0/24","health":{"website/192.0.2.10":false}}'
wants '"picks":["198.51.100.10"]'
call 400 POST /simulate '{"name":"www.example.com.","type":"AAAAA"}'
call 404 GET /simulate/clients/DE
wants 'this node has no geo database'
call 200 GET /explain/pool-unknown

# Why it was answered so: the journal of a new node does not go back that far.
call 404 POST /why '{"name":"www.example.com.","at":"2020-01-01T00:00:00Z"}'

# What would come of a change: the same answer, and nothing is changed.
call 200 PATCH "/pools/$pool?dryRun=true" '{"name":"other"}'
wants '"name":"other"'
call 400 PATCH "/pools/$pool?dryRun=true" '{"minHealthy":9}'
wants minHealthy
call 204 DELETE "/services/$service?dryRun=true"
call 200 POST /plan "{\"requests\":[{\"method\":\"PATCH\",\"path\":\"/api/v1/pools/$pool\",\"body\":{\"minHealthy\":1}}]}"
call 200 GET "/services/$service"
call 200 GET "/pools/$pool"
wants '"name":"website"'
call 200 PATCH "/pools/$pool" '{"minHealthy":null}'

# Several changes in one commit, with a subject of its own.
call 201 POST /commits "{\"requests\":[{\"method\":\"PATCH\",\"path\":\"/api/v1/pools/$pool\",\"body\":{\"minHealthy\":1}},{\"method\":\"PATCH\",\"path\":\"/api/v1/services/$service\",\"body\":{\"ttl\":30}}]}"
call 200 PATCH "/pools/$pool" '{"minHealthy":null}'

# How its members are probed, and which clients get which.
call 404 GET "/pools/$pool/healthcheck"
call 200 PUT "/pools/$pool/healthcheck" '{"type":"http","port":443,"tls":true,"httpPath":"/healthz"}'
call 200 PATCH "/pools/$pool/healthcheck" '{"riseCount":2,"fallCount":3}'
wants '"httpPath":"/healthz"'
call 200 GET "/pools/$pool/healthcheck"
call 403 PUT "/pools/$pool/healthcheck" '{"type":"script","scriptContent":"exit 0"}'
call 400 PUT "/pools/$pool/healthcheck" '{"type":"webhook","webhookURL":"http://169.254.169.254/"}'
call 201 POST "/pools/$pool/georules" '{"cidr":"203.0.113.0/24","endpoint":"192.0.2.10","priority":1}'
rule=$(field id)
call 200 GET "/pools/$pool/georules"
call 200 PUT "/georules/$rule" '{"cidr":"203.0.113.0/25","endpoint":"192.0.2.10","priority":2}'
call 204 DELETE "/georules/$rule"

# What a monitor elsewhere says, and hours out of rotation.
call 200 POST "/members/$member/health-signal" '{"source":"monitor","healthy":true}'
call 200 GET "/members/$member/health-signals"
wants monitor
call 201 POST /maintenance-windows \
  "{\"resourceType\":\"member\",\"resourceId\":\"$spare\",\"startAt\":\"2126-01-01T00:00:00Z\",\"endAt\":\"2126-01-01T01:00:00Z\"}"
window=$(field id)
call 200 GET /maintenance-windows
call 204 DELETE "/maintenance-windows/$window"

# A key for DNS clients that is good for one name, and what certificate authorities look for.
call 201 POST /dns/tsig-keys '{"name":"certbot.example.com.","scope":"_acme-challenge.www.example.com."}'
tsig=$(field id)
wants secret
call 400 POST /dns/tsig-keys '{"name":"old.example.com.","algorithm":"hmac-md5"}'
call 200 GET /dns/tsig-keys
case $answer in *secret*) echo "a secret is listed: $answer" >&2; exit 1 ;; esac
call 201 POST /dns/txt-records '{"name":"_acme-challenge.www.example.com.","value":"token"}'
txt=$(field id)
call 200 GET /dns/txt-records
wants '"ttl":60'
call 200 GET /dns/written-records
wants '"writtenBy":'
call 204 DELETE "/dns/written-records/$txt"
call 404 DELETE "/dns/txt-records/$txt"
call 204 DELETE "/dns/tsig-keys/$tsig"
call 200 GET /acme-dns/keys
call 404 DELETE /acme-dns/keys/none

# A weight that rises in steps.
call 201 POST /rollouts "{\"memberId\":\"$spare\",\"steps\":[{\"weightPct\":50,\"holdSeconds\":0}]}"
rollout=$(field id)
call 200 GET /rollouts
until call 200 GET "/rollouts/$rollout" && [ "$(field state)" = running ]; do sleep 1; done
call 200 POST "/rollouts/$rollout/pause"
call 200 POST "/rollouts/$rollout/promote"
call 409 POST "/rollouts/$rollout/abort"
wants promoted

# What visitors' browsers do, and what comes of it.
call 200 PUT "/members/$member" '{"rumUrl":"https://fra1.example.net/ping"}'
call 200 GET /rum.js
call 200 GET "/rum/config?domain=www.example.com"
wants fra1.example.net
call 200 POST /rum/ingest '{"domain":"www.example.com","samples":[{"ip":"192.0.2.10","latencyMs":23.4}]}'
wants '"accepted":1'
call 200 GET /rum/status
wants '"measurements":1'
call 200 GET /rum/networks
wants '"sampled":1'

# What it looks like from above.
call 200 GET /dashboard/stats
call 200 GET /snapshot
wants website
call 200 GET /gitops/status
# Settings of the node that answers, and of gslb.yaml, which the first change makes.
call 200 GET /settings
call 200 PUT /settings '{"guardrails":{"removedNames":20}}'
wants '"removedNames":20'
call 202 POST /sync
call 200 GET /cluster/nodes
# A node without Redis reaches no other one.
call 501 POST /cluster/nodes/another/restart
call 200 GET /bgp
# Zones that are pushed to others are in the settings of a node; this one pushes none.
call 200 GET /zone-pushes
call 404 GET /zone-pushes/aws/plan
call 404 POST /zone-pushes/aws/apply '{"adopt": true}'
# Sources of discovery are in the settings of a node; this one has none.
call 200 GET /discovery/sources
call 404 POST /discovery/sources/consul/accept
# Zones that come from other servers; here none does.
call 200 GET /zone-transfers
call 404 POST /zone-transfers/example.net./accept '{"reason":"it is meant"}'
# Changes go out in waves where a file in deliveries/ says so.
call 200 GET /deliveries
for decision in pause resume promote abort; do call 404 POST "/deliveries/main/$decision"; done
call 200 GET /ready
call 200 GET /usage
call 200 GET '/audit?limit=1'
call 200 GET /unused

# What the installation may do.
call 200 GET /license
call 400 POST /license '{"token":"forged"}'
if [ -n "${GSLB_LICENSE_TOKEN-}" ]; then
  call 200 POST /license "{\"token\":\"$GSLB_LICENSE_TOKEN\"}"
  wants '"valid":true'
fi

# Names that get another answer, whosever they are.
call 201 POST /rpz/rules '{"triggerType":"domain","triggerValue":"ads.example","action":"nxdomain"}'
denial=$(field id)
wants '"source":"local"'
call 409 POST /rpz/rules '{"triggerType":"domain","triggerValue":"ADS.example.","action":"passthru"}'
call 200 GET /rpz/rules
wants '"hitCount":0'
call 204 DELETE "/rpz/rules/$denial"

# Networks of clients that no node limits.
call 201 POST /rrl/allowlist '{"cidr":"192.0.2.0/24","comment":"our resolvers"}'
exempt=$(field id)
call 409 POST /rrl/allowlist '{"cidr":"192.0.2.0/24"}'
call 200 GET /rrl/allowlist
wants '"cidr":"192.0.2.0/24"'
call 204 DELETE "/rrl/allowlist/$exempt"

# Keys of signed zones.
call 200 GET /acme/certificates
call 200 GET /dnssec/zones
call 404 GET /dnssec/zones/none.example
call 404 POST /dnssec/zones/none.example/roll '{"which":"csk"}'
call 404 POST /dnssec/zones/none.example/ds-seen '{"tag":1}'
call 404 POST /dnssec/zones/none.example/keys '{"record":"x","privateKey":"x"}'
call 404 DELETE /dnssec/zones/none.example/keys/13-1

# Hosts whose browsers are sent elsewhere.
call 201 POST /redirects '{"sourceFqdn":"Old.Example.com.","targetUrl":"https://www.example.com/"}'
redirect=$(field id)
wants '"sourceFqdn":"old.example.com"'
wants '"code":301'
call 409 POST /redirects '{"sourceFqdn":"old.example.com","targetUrl":"https://other.example.com/"}'
call 400 POST /redirects '{"sourceFqdn":"older.example.com","targetUrl":"https://a.example/;b"}'
call 200 GET /redirects
wants '"hitCount":0'
call 204 DELETE "/redirects/$redirect"
# A zone that its parent has to point at.
call 201 POST /domains '{"domain":"gslb.example.com"}'
domain=$(field id)
wants '"verified":false'
call 409 POST /domains '{"domain":"GSLB.example.com."}'
call 200 POST "/domains/$domain/verify"
wants '"lastVerifiedAt":'
call 200 GET /domains
call 204 DELETE "/domains/$domain"

# Channels to which alerts go. Messages to internal addresses are refused unless the settings allow them.
call 201 POST /alerts '{"name":"ops","kind":"webhook","settings":{"url":"https://127.0.0.1/hook"}}'
alert=$(field id)
call 200 GET /alerts
call 200 GET "/alerts/$alert"
call 200 PUT "/alerts/$alert" '{"name":"operations"}'
call 200 POST "/alerts/$alert/test"
call 200 GET /alerts/events
call 201 POST /alerts/silences '{"seconds":3600}'
silence=$(field id)
call 200 GET /alerts/silences
call 204 DELETE "/alerts/silences/$silence"
call 204 DELETE "/alerts/$alert"

# What was changed, and taking it back.
call 200 GET "/pools/$pool/history"
call 200 GET '/history?limit=1'
commit=$(field commit)
call 200 GET "/history/$commit"
wants '"fields":'
call 201 POST "/history/$commit/revert?dryRun=true"

# What happens, as it happens: a token opens the feed, once.
call 200 GET /ws/token
feed=$(field token)
call 426 GET '/ws?token=none'
upgrade 101 "/ws?token=$feed"
upgrade 401 "/ws?token=$feed"

# Others who may use it.
call 201 POST /users '{"email":"bob@example.com","displayName":"Bob","password":"battery staple","role":"viewer"}'
bob=$(field id)
call 200 GET /users
call 200 GET "/users/$bob"
call 200 PUT "/users/$bob" '{"role":"operator"}'
call 201 POST /roles '{"name":"on-call","permissions":["pool:read","member:read","member:write"]}'
role=$(field id)
call 200 GET /roles
call 200 GET "/roles/$role"
call 200 PUT "/roles/$role" '{"permissions":["pool:read","member:read"]}'
call 204 DELETE "/roles/$role"
call 201 POST /tenants '{"name":"acme"}'
tenant_key=$(field apiKey)
tenant=$(printf '%s' "$answer" | grep -o '"tenant":{[^}]*' | grep -o '"id":"[^"]*"' | cut -d '"' -f 4)
call 200 GET /tenants
call 200 GET "/tenants/$tenant/usage"

# Another tenant sees nothing of it, and cannot take its names.
credential=("Authorization: Bearer $tenant_key")
call 200 GET /pools
[ "$answer" = '[]' ] || { echo "acme sees: $answer" >&2; exit 1; }
call 404 GET "/pools/$pool"
call 403 GET /tenants
call 409 POST /services '{"name":"mine","domain":"www.example.com."}'

# A key that somebody has lost ends with the next one.
credential=("Authorization: Bearer $session")
call 201 POST "/tenants/$tenant/key"
next_key=$(field apiKey)
credential=("Authorization: Bearer $tenant_key")
call 401 GET /pools
credential=("Authorization: Bearer $next_key")
call 200 GET /pools
credential=("Authorization: Bearer $session")
call 204 DELETE "/tenants/$tenant/key"
credential=("Authorization: Bearer $next_key")
call 401 GET /pools
credential=('Authorization: Bearer nobody')
call 401 GET /pools

# A second factor.
credential=("Authorization: Bearer $session")
call 200 POST /auth/totp/setup
secret=$(field secret)
call 200 POST /auth/totp/verify "{\"code\":\"$(totp "$secret")\"}"

# Nothing is left behind, not even the account: its password is known to everybody who reads this.
call 200 GET /auth/me
ann=$(field id)
call 204 DELETE "/users/$bob"
call 204 DELETE "/tenants/$tenant"
call 204 DELETE "/services/$service"
call 204 DELETE "/pools/$pool/healthcheck"
call 204 DELETE "/members/$spare"
call 204 DELETE "/members/$member"
call 204 DELETE "/pools/$pool"
call 204 POST /auth/logout
call 401 GET /auth/me
credential=("Authorization: Bearer $key")
call 204 DELETE "/users/$ann"
