#!/bin/sh
# Attests the merge commits between GSLB_BASE and HEAD that a hosting service made, and pushes the
# attestations. A merge is attested only when it has two parents, brings nothing but what merging
# them gives, and each commit that it brings is signed by a listed key.
#
# GSLB_BASE     commit that the branch was at before
# GSLB_SIGNERS  allowed_signers of the nodes
# GSLB_KEY      the private key, as text; its line has the namespace gslb-attest
# GSLB_REMOTE   where attestations are pushed to (origin)
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
if [ -z "${GSLBD:-}" ]; then
  GSLBD=$here/../../bin/gslbd
  [ -x "$GSLBD" ] || GSLBD=gslbd
fi
: "${GSLB_BASE:?say where the branch was before}" "${GSLB_SIGNERS:?}" "${GSLB_KEY:?}"

key=$(mktemp)
trap 'rm -f "$key"' EXIT INT TERM
chmod 600 "$key"
printf '%s\n' "$GSLB_KEY" > "$key"

# Oldest first, along the branch: what a merge brings is checked with it.
for commit in $(git rev-list --reverse --first-parent "$GSLB_BASE..HEAD"); do
  first=$(git rev-parse "$commit^1")
  if "$GSLBD" verify . --base "$first" --head "$commit" --allowed-signers "$GSLB_SIGNERS"; then
    continue
  fi
  if ! second=$(git rev-parse --verify --quiet "$commit^2") ||
    git rev-parse --verify --quiet "$commit^3" > /dev/null; then
    echo "$commit is no merge of two commits: somebody has to vouch for it by hand" >&2
    exit 1
  fi
  apart=$(git merge-base "$first" "$second")
  "$GSLBD" verify . --base "$apart" --head "$second" --allowed-signers "$GSLB_SIGNERS"
  if [ "$(git merge-tree --write-tree "$first" "$second")" != "$(git rev-parse "$commit^{tree}")" ]; then
    echo "$commit is not what merging its parents gives: somebody has to vouch for it by hand" >&2
    exit 1
  fi
  "$GSLBD" attest "$commit" --repo . --key "$key"
  ref=refs/gslb/attest/$commit
  git push "${GSLB_REMOTE:-origin}" "$ref:$ref"
done
