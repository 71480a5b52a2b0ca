#!/usr/bin/env bash
# dist.sh GORELEASER writes the files of a release to dist/, for the commit that is checked out:
# archives, Helm's tarballs, packages, SBOMs, checksums, krew's manifest, and the images as OCI
# layouts. Nothing is signed or published. It works in a clone, so uncommitted
# changes do not get in. PLATFORM=linux/amd64 builds only that platform, which has to be a
# Linux one.
set -euo pipefail
goreleaser=$(realpath "$1")
root=$(git rev-parse --show-toplevel)
version=$(sed -n 's/^version: *"\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "$root/plugin.yaml")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q "$root" "$work/src"
cd "$work/src"
git tag -f "v$version" >/dev/null
config=packaging/goreleaser.yaml
"$goreleaser" check -q "$config"
if [ -n "${PLATFORM:-}" ]; then
  config=$work/goreleaser.yaml
  sed "s|goos: \[linux, darwin, windows\]|goos: [${PLATFORM%/*}]|; s|goarch: \[amd64, arm64\]|goarch: [${PLATFORM#*/}]|" packaging/goreleaser.yaml >"$config"
fi
# The commit is stamped into the program, whatever GOFLAGS says.
VERSION=$version GOFLAGS=-buildvcs=true "$goreleaser" release -f "$config" --snapshot --clean --skip=sign

image() { # PROGRAM DIR
  local programs=() program arch
  for program in dist/"$1"_linux_*/"$1"; do
    arch=${program#dist/"$1"_linux_}
    programs+=("${arch%%_*}=$program")
  done
  go run ./internal/imagegen -program "$1" -version "$version" -commit "$(git rev-parse HEAD)" \
    -created "$(TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ)" -out "$2" "${programs[@]}"
}
image kubectl-release dist/image
image kubectl-release-controller dist/controller-image
mv packaging/out/release-*.tgz dist/
rm -rf "$root/dist"
mv dist "$root/dist"
