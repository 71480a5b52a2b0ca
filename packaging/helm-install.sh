#!/usr/bin/env sh
# "helm plugin install" and "helm plugin update" run this: it fetches the program into the
# plugin's folder. A program of the right version that is there already, as in the release's
# tarballs, is left alone, and nothing is fetched.
# KUBECTL_RELEASE_DOWNLOADS is where releases are fetched from instead of GitHub.
set -eu
cd "${HELM_PLUGIN_DIR:?Helm says where the plugin is}"

version=$(sed -n 's/^version: *"\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' plugin.yaml)
if [ -x kubectl-release ]; then
  case $(./kubectl-release version --short 2>/dev/null || true) in
    "$version" | "$version-dev") # the latter from a checkout
      echo "kubectl-release $version is already installed."
      exit 0
      ;;
  esac
fi

os=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) echo "there is no kubectl-release for $os on $(uname -m): build it, and put it into $PWD" >&2; exit 1 ;;
esac
base=${KUBECTL_RELEASE_DOWNLOADS:-https://github.com/kubectl-release/kubectl-release/releases/download}/v$version
archive=kubectl-release_${version}_${os}_${arch}.tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() {
  echo "fetching $base/$1" >&2
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --output "$work/$1" "$base/$1"
  else
    wget --quiet --output-document "$work/$1" "$base/$1"
  fi
}
fetch "$archive"
fetch checksums.txt
# Only this archive's line of checksums.txt, which has to be there.
grep " [ *]\{0,1\}$archive\$" "$work/checksums.txt" >"$work/sum" || { echo "checksums.txt has nothing of $archive" >&2; exit 1; }
if command -v sha256sum >/dev/null; then
  (cd "$work" && sha256sum -c sum >/dev/null)
else
  (cd "$work" && shasum -a 256 -c sum >/dev/null)
fi || { echo "$archive is not what checksums.txt promises; nothing is installed" >&2; exit 1; }

tar -xzf "$work/$archive" -C "$work" kubectl-release
mv -f "$work/kubectl-release" kubectl-release
echo "kubectl-release $version is installed."
