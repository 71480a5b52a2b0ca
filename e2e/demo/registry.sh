#!/usr/bin/env bash
# registry.sh ADDRESS starts a local registry with the chart shop in it, at an ADDRESS such
# as 127.0.0.1:5000. It keeps everything in memory, and runs until it is killed.
#
# Needed in PATH: kubectl-release.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
. "$here/steps.sh"

address=${1:?ADDRESS is missing, such as 127.0.0.1:5000}
go run -C "$here/../../testcluster" ./build -q registry
PATH="$here/../../testcluster/bin:$PATH"

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
serve_registry "$address" "$home"
kubectl-release package "$here/../../testdata/charts/shop" --destination "$home" > "$home/packed"
kubectl-release push "$home"/shop-*.tgz "oci://$address/charts"
echo "The registry is at $address; kill $registry ends it."
