#!/usr/bin/env bash
# What isomorphic-git says was signed, of a commit that is signed by an SSH key.
#
# Version: npm package isomorphic-git 1.44.19, with git 2.39.5 and ssh-keygen 9.2p1 of Debian 12.
# Seen: `readCommit` and `log` give a `payload`, what was signed. For a commit with a PGP signature it is
# the commit without `gpgsig`. For one with an SSH signature, which stands under the same name, it is the headers, then
# the rest of the whole commit from its 28th octet on, signature and all: it looks for the end of a PGP signature, and goes on
# where there is none. `gpgsig` itself is right, so the signature is bad by `payload`, and good by `git verify-commit`.
# An engineer would have guessed: what is read as a signature is left out as one, or refused as one of an unknown kind.
set -euo pipefail
needs=(git openssh-client)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . isomorphic-git@1.44.19 > /dev/null
export HOME=$folder GIT_CONFIG_NOSYSTEM=1
git --version

ssh-keygen -q -t ed25519 -N '' -C '' -f key
echo "ann@example.org $(cat key.pub)" > signers
git config --global user.name Ann
git config --global user.email ann@example.org
git config --global init.defaultBranch main
git config --global gpg.format ssh
git config --global gpg.ssh.allowedSignersFile "$folder/signers"
git config --global user.signingkey "$folder/key"
git init -q work
cd work
git commit -q -S --allow-empty -m first
git verify-commit HEAD 2> verdict
cat verdict

cat > ../read.mjs <<'JS'
// Writes the signature and what was signed, as isomorphic-git gives them.
import fs from 'node:fs'
import git from 'isomorphic-git'
const at = { fs, dir: '.' }
const { commit, payload } = await git.readCommit({ ...at, oid: await git.resolveRef({ ...at, ref: 'HEAD' }) })
fs.writeFileSync('payload', payload)
fs.writeFileSync('signature', `${commit.gpgsig.trimEnd()}\n`)
JS
node ../read.mjs
git cat-file commit HEAD > whole
sed '/^gpgsig /,/^ -----END/d' whole > right
check() { ssh-keygen -Y verify -f ../signers -I ann@example.org -n git -s signature < "$1" > verdict 2>&1 && echo good || echo bad; }
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect 'the commit without gpgsig, by the signature of isomorphic-git' "$(check right)" good
expect 'its payload, by the same' "$(check payload)" bad
expect 'headers of the payload that say gpgsig' "$(grep -c '^gpgsig' payload)" 1
{ sed '/^gpgsig /,$d' whole; tail -c +28 whole; } > mixed
expect 'the payload is the headers, and the commit from its 28th octet on' "$(cmp -s payload mixed && echo yes || echo no)" yes
exit "$status"
