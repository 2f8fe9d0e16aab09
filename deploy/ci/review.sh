#!/bin/sh
# Reviews a change in any CI, or by hand: run it in a full checkout of the change.
#
#   GSLB_BASE=origin/main deploy/ci/review.sh
#
# GSLB_PATH     folder of the configuration (.)
# GSLB_BASE     where the change is to go; its commits have to be here
# GSLB_SIGNERS  allowed_signers of the nodes; empty: signatures are not checked
# GSLB_GEOIP    database of places (MMDB); GSLB_ASN: of autonomous systems; empty: none
# GSLB_OUT      folder for comment.md, plan.html, gslbd.sarif, verdict.json (.gslbd-review)
# GSLB_FORMAT   text, or github for annotations
# GSLBD         the program (bin/gslbd beside this script, else gslbd of the PATH)
#
# Exit codes are those of gslbd review: 0 a node would accept it, 1 errors, 3 beyond a guardrail,
# 4 signatures.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
if [ -z "${GSLBD:-}" ]; then
  GSLBD=$here/../../bin/gslbd
  [ -x "$GSLBD" ] || GSLBD=gslbd
fi
: "${GSLB_BASE:?say where the change is to go, such as origin/main}"

set -- "${GSLB_PATH:-.}" --base "$GSLB_BASE" --out "${GSLB_OUT:-.gslbd-review}" \
  --format "${GSLB_FORMAT:-text}"
[ -z "${GSLB_SIGNERS:-}" ] || set -- "$@" --allowed-signers "$GSLB_SIGNERS"
[ -z "${GSLB_GEOIP:-}" ] || set -- "$@" --geoip "$GSLB_GEOIP"
[ -z "${GSLB_ASN:-}" ] || set -- "$@" --asn "$GSLB_ASN"
exec "$GSLBD" review "$@"
