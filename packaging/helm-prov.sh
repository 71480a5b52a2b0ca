#!/usr/bin/env sh
# helm-prov.sh ARCHIVE PROVENANCE signs a plugin's tarball for Helm 4, with the OpenPGP key
# GPG_KEY from gpg's keyring: https://helm.sh/docs/topics/provenance/. The signed file
# pins the archive's name.
set -eu
{
  cat plugin.yaml
  printf '\n...\nfiles:\n  %s: sha256:%s\n' "$(basename "$1")" "$(sha256sum "$1" | cut -c1-64)"
} | gpg --batch --yes --armor --digest-algo SHA512 --local-user "$GPG_KEY" --output "$2" --clearsign
