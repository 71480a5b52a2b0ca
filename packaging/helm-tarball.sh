#!/usr/bin/env sh
# helm-tarball.sh PROGRAM OS ARCH VERSION SECONDS makes Helm plugin tarballs from a program.
# release-OS-ARCH-VERSION.tgz has one top-level folder, as Helm 4 expects, and is signed with
# GPG_KEY. release-helm3-OS-ARCH-VERSION.tgz has none, but entries for folders, as Helm 3 expects.
# Helm cuts "-1.2.3.tgz" off the name and names the plugin's folder after the rest.
set -eu
name=release-$2-$3
out=packaging/out/$name-$4.tgz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name/packaging" packaging/out
cp LICENSE plugin.yaml plugin.complete "$1" "$work/$name/"
cp packaging/helm-install.sh packaging/helm-install.ps1 "$work/$name/packaging/"
chmod -R u=rwX,go=rX "$work/$name"
seconds=$5
pack() { # FOLDER FILES…
  folder=$1 && shift
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$seconds" --format=ustar -C "$folder" -cf - "$@" | gzip -n
}
pack "$work" "$name" >"$out"
pack "$work/$name" LICENSE "$(basename "$1")" packaging plugin.complete plugin.yaml >"packaging/out/release-helm3-$2-$3-$4.tgz"
[ -z "${GPG_KEY:-}" ] || packaging/helm-prov.sh "$out" "$out.prov"
