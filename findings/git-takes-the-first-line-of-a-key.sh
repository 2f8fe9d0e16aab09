#!/usr/bin/env bash
# Whose signature git takes an SSH signature for, and when a line of the allowed signers counts.
#
# Versions: git 2.39.5 and openssh-client 9.2p1 of Debian 12.
# Seen: git asks ssh-keygen for whom the key stands, which names the first line of the key that is in time, and checks
# for its principals alone. Where that line is for another namespace (`file`) the commit is bad, though the next line,
# with another name, permits `git`; with the lines the other way round it is good. The name that git then tells is what
# stands in the line, also a pattern: the signer is called `*@example.org`. It is compared with nothing: a commit
# of Ann is good with the line of Bob.
# An engineer would have guessed: any line that permits it is enough, as in authorized_keys; the
# signer that is told is somebody's address, and that of the committer.
set -euo pipefail
needs=(git openssh-client)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export HOME=$folder GIT_CONFIG_NOSYSTEM=1
git --version
ssh -V

ssh-keygen -q -t ed25519 -N '' -C '' -f key
key=$(cat key.pub)
git config --global user.name Ann
git config --global user.email ann@example.org
git config --global init.defaultBranch main
git config --global gpg.format ssh
git config --global gpg.ssh.allowedSignersFile "$folder/signers"
git config --global user.signingkey "$folder/key"
git init -q work
cd work
git commit -q -S --allow-empty -m first
status=0
expect() { # VERDICT LINE...
  local want=$1 said; shift
  printf "%s $key\n" "$@" > ../signers
  said=$(git log -1 --format='%G? %GS' 2> /dev/null)
  printf '%s:' "$said"
  printf ' [%s KEY]' "$@"
  echo
  [ "$said" = "$want" ] || { echo "  changed: it was $want"; status=1; }
}
file='ann@work.example namespaces="file"' git='ann@example.org namespaces="git"'
expect 'G ann@example.org' "$git"
expect 'B ' "$file" "$git"
expect 'G ann@example.org' "$git" "$file"
expect 'G ann@example.org' 'ann@example.org namespaces="file"' "$git"
expect 'G ann@example.org' 'ann@work.example namespaces="git",valid-before="20200101Z"' "$git"
expect 'G *@example.org' '*@example.org namespaces="git"'
expect 'G bob@example.org' 'bob@example.org namespaces="git"'
exit "$status"
