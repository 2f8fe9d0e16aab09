#!/usr/bin/env bash
# Whether StGit, libgit2 and git's own subtree sign the commits that they make where git is told to.
#
# Versions: stgit 0.19, python3-pygit2 1.11.1 (libgit2 1.5), git 2.39.5 with git-subtree, of Debian 12.
# Seen: with `commit.gpgsign true`, `gpg.format ssh` and a key that works, `git commit` and `git revert` sign.
# `stg refresh`, `git subtree add` and `Repository.create_commit` of pygit2 make commits without
# a signature and say nothing of it; they have none after `stg commit` either.
# An engineer would have guessed: `commit.gpgsign` ("all commits should be signed") holds for what is built upon
# git and reads its configuration. Branches that take signed commits alone refuse these.
set -euo pipefail
needs=(stgit python3-pygit2 git openssh-client)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export HOME=$folder GIT_CONFIG_NOSYSTEM=1
git --version
stg --version | sed -n 1p
/usr/bin/python3 -c 'import pygit2; print("pygit2", pygit2.__version__, pygit2.LIBGIT2_VERSION)'

ssh-keygen -q -t ed25519 -N '' -f key
git config --global user.name Ann
git config --global user.email ann@example.org
git config --global init.defaultBranch main
git config --global gpg.format ssh
git config --global user.signingkey "$folder/key"
git config --global commit.gpgsign true
git init -q other
(cd other && echo 1 > file && git add file && git commit -q -m other)
git init -q work
cd work
echo 1 > file
git add file

status=0
expect() { # WHAT SIGNED
  local seen=no
  [[ $(git cat-file commit HEAD) = *gpgsig* ]] && seen=yes
  echo "$1: signed: $seen"
  [ "$seen" = "$2" ] || { echo '  changed'; status=1; }
}
git commit -q -m first
expect 'git commit' yes
echo 3 > file
git commit -q -a -m second
git revert --no-edit HEAD > /dev/null
expect 'git revert' yes
git subtree add -q --prefix other ../other main > /dev/null 2>&1
expect 'git subtree add' no
/usr/bin/python3 - <<'PYTHON'
import pygit2
repository = pygit2.Repository('.')
who = pygit2.Signature('Ann', 'ann@example.org')
head = repository.head
repository.create_commit('HEAD', who, who, 'third', head.peel().tree_id, [head.target])
PYTHON
expect 'pygit2' no
stg init > /dev/null
stg new -m fourth > /dev/null 2>&1
echo 2 > file
stg refresh > /dev/null 2>&1
expect 'stg refresh' no
stg commit --all > /dev/null 2>&1
expect 'stg commit' no
exit "$status"
