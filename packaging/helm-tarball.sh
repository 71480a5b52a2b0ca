#!/usr/bin/env sh
# helm-tarball.sh PROGRAM OS ARCH VERSION SECONDS makes Helm's plugin tarball of a program:
# with one folder at its top, as Helm wants it, and entries for folders, which Helm 3 wants.
# Helm cuts "-1.2.3.tgz" off the name and calls the plugin's folder what is left.
# With GPG_KEY it is signed.
set -eu
name=release-$2-$3
out=packaging/out/$name-$4.tgz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name/packaging" packaging/out
cp LICENSE plugin.yaml plugin.complete "$1" "$work/$name/"
cp packaging/helm-install.sh packaging/helm-install.ps1 "$work/$name/packaging/"
chmod -R u=rwX,go=rX "$work/$name"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$5" --format=ustar -C "$work" -cf - "$name" | gzip -n >"$out"
[ -z "${GPG_KEY:-}" ] || packaging/helm-prov.sh "$out" "$out.prov"
