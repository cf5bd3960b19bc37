#!/bin/sh
# Records what real git and ssh-keygen sign, to be verified by the tests, and lets real git verify what the tests recorded of this package's own
# signing (ours.commit, ours.tag; written by UPDATE_GOLDEN=1 go test ./git). Needs git and OpenSSH. Keys are made afresh and thrown away.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME=$work GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=Alice GIT_AUTHOR_EMAIL=alice@example.com GIT_AUTHOR_DATE="2026-06-01T12:00:00Z"
export GIT_COMMITTER_NAME=Alice GIT_COMMITTER_EMAIL=alice@example.com GIT_COMMITTER_DATE="2026-06-01T12:00:00Z"

key() { ssh-keygen -q -N "" -C "" "$@"; }
key -t ed25519 -f ed25519
key -t rsa -b 3072 -f rsa
key -t ecdsa -b 256 -f ecdsa
key -t ed25519 -f stranger
key -t ed25519 -f expired
key -t ed25519 -f elsewhere
key -t ed25519 -f ca
key -t ed25519 -f certified
ssh-keygen -q -s ca -I "certificate of carol" -n carol@example.com -V 20260101000000Z:20270101000000Z certified.pub
key -t ed25519 -f lapsed
ssh-keygen -q -s ca -I "lapsed certificate" -n carol@example.com -V 20250101000000Z:20260101000000Z lapsed.pub
key -t ed25519 -f outsider
ssh-keygen -q -s ca -I "certificate of an outsider" -n mallory@example.org -V 20260101000000Z:20270101000000Z outsider.pub

{
	echo "# Who may sign."
	echo
	echo "alice@example.com $(cat ed25519.pub)"
	echo "rsa@example.com namespaces=\"file,git\" $(cat rsa.pub)"
	echo "ecdsa@example.com valid-after=\"20260101Z\",valid-before=\"20270101000000Z\" $(cat ecdsa.pub)"
	echo "expired@example.com valid-before=\"20260101Z\" $(cat expired.pub)"
	echo "elsewhere@example.com namespaces=\"file\" $(cat elsewhere.pub)"
	echo "*@example.com cert-authority $(cat ca.pub)"
} >"$here/allowed_signers"

git init -q repo
cd repo
git config gpg.format ssh
git config gpg.ssh.allowedSignersFile "$here/allowed_signers"
for name in ed25519 rsa ecdsa stranger expired elsewhere certified lapsed outsider; do
	signer=../$name.pub
	[ -e ../$name-cert.pub ] && signer=../$name-cert.pub
	git -c user.signingKey="$PWD/$signer" commit -q --allow-empty -S -m "Signed with $name" -m "A body, with  spaces
 and a line that starts with one."
	git cat-file commit HEAD >"$here/$name.commit"
	printf '%s: git says ' "$name"
	git verify-commit HEAD >/dev/null 2>&1 && echo good || echo bad
done
git commit -q --allow-empty -m "Not signed"
git cat-file commit HEAD >"$here/unsigned.commit"

git config gpg.ssh.allowedSignersFile "$here/ours.allowed_signers"
for kind in commit tag; do
	[ -e "$here/ours.$kind" ] || continue
	printf 'ours.%s: git says ' "$kind"
	git verify-$kind "$(git hash-object --literally -t $kind -w "$here/ours.$kind")" 2>&1
done
