#!/usr/bin/env bash
# registry.sh ADDRESS starts a local registry with the chart shop in it, at an ADDRESS such
# as 127.0.0.1:5000. It keeps everything in memory, and runs until it is killed,
# or something fails here.
#
# Needed in PATH: kubectl-release.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
. "$here/steps.sh"

address=${1:?ADDRESS is missing, such as 127.0.0.1:5000}
go run -C "$here/../../testcluster" ./build -q registry
PATH="$here/../../testcluster/bin:$PATH"

home=$(mktemp -d)
finish() {
  [ $? -eq 0 ] || [ -z "${registry:-}" ] || kill "$registry" 2> /dev/null || true
  rm -rf "$home"
}
trap finish EXIT
serve_registry "$address" "$home"
kubectl-release package "$here/../../testdata/charts/shop" --destination "$home" > "$home/packed"
kubectl-release push "$home"/shop-*.tgz "oci://$address/charts"
echo "The registry is at $address; kill $registry ends it."
