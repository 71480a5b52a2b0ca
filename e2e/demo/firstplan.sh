#!/usr/bin/env bash
# A plan without any cluster: what new values change, compared with what the chart
# renders without them.
#
# Needed in PATH: kubectl-release.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/steps.sh"

without_helm_variables
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cp -r "$here/../../testdata/charts/shop" "$home"
cd "$home"

say 'A first plan, without a cluster: what would new values change?'
kubectl-release template web ./shop > installed.yaml
run 0 kubectl-release plan web ./shop --set replicas=3,motd=hello,legacyAccount=false --offline --against installed.yaml

say 'Next: a real control plane, which is built first if it is missing.'
