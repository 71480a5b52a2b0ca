#!/usr/bin/env bash
# The life of a release on a real control plane, as a person would type it, with the chart
# from a real registry. Each command is shown and has to exit with the expected code.
#
# Needed in PATH: kubectl-release, and testcluster, kubectl and registry from testcluster/bin.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

. "$here/steps.sh"

without_helm_variables
home=$(mktemp -d)
export KUBECONFIG=$home/kubeconfig KUBECACHEDIR=$home/cache HELM_CACHE_HOME=$home/helm/cache HELM_CONFIG_HOME=$home/helm/config
cp -r "$here/../../testdata/charts/web" "$here"/*.yaml "$home"
cd "$home"
start_cluster "$home"
finish() {
  [ -z "${registry:-}" ] || kill "$registry" 2> /dev/null || true
  kill "$cluster" 2> /dev/null && wait "$cluster" || true
  rm -rf "$home"
}
trap finish EXIT

say 'A real control plane starts: etcd, API server, controllers, scheduler; kwok plays the kubelet.'
await_log "$cluster" "$home/log" ready
run 0 kubectl version
run 0 kubectl create namespace shop
kubectl config set-context --current --namespace shop > /dev/null

say 'A registry starts, and the chart is pushed to it.'
free_port
serve_registry "127.0.0.1:$port" "$home"
charts=oci://127.0.0.1:$port/charts
run 0 kubectl release package ./web
run 0 kubectl release push web-1.0.0.tgz "$charts"

say 'What would an install from there do? Nothing is written yet. The plan is pinned to the bytes of the chart.'
run 0 kubectl release plan web "$charts/web:1.0.0" --wait --out web.plan

say 'Somebody pushes another chart under the same version: the reviewed plan is refused.'
cp -r web other
sed 's/port: 80$/port: 81/' web/templates/service.yaml > other/templates/service.yaml
run 0 kubectl release package ./other
run 1 kubectl release push web-1.0.0.tgz "$charts"
run 0 kubectl release push web-1.0.0.tgz "$charts" --force
run 4 kubectl release apply web.plan

say 'The plan holds what was reviewed. Apply exactly that.'
run 0 kubectl release apply web.plan --pinned --summary

say 'Is there anything left to do?'
run 0 kubectl release plan web ./web

say 'New values: one object is changed, one created, one deleted, and a hook migrates first. Saved, then applied.'
run 0 cat v2.yaml
run 2 kubectl release plan web ./web -f v2.yaml --wait --out web.plan --detailed-exitcode
run 0 kubectl release apply web.plan

say 'The same plan is refused the second time: it is no longer what would happen.'
run 4 kubectl release apply web.plan

# Crashing pods may still come up, so only a timeout ends the wait. The rollback does not
# share it: that has to succeed, even on a busy machine.
say 'An image whose pods never become ready. Atomic: the upgrade fails and is rolled back.'
run 5 kubectl release upgrade web ./web -f v2.yaml --set image=shop/web:3.0,behave=crash --atomic --overall-timeout 15s
run 0 kubectl release history web
run 0 kubectl get deployments --output wide

say 'Remove it.'
run 0 kubectl release plan uninstall web
run 0 kubectl release uninstall web --wait

say 'What is left in the namespace: only what every namespace has.'
run 0 kubectl get all,configmaps,secrets,leases
left=$(kubectl get all,configmaps,secrets,leases --output name | grep -v '^configmap/kube-root-ca.crt$' || true)
if [ -n "$left" ]; then
  printf 'demo: something is left:\n%s\n' "$left" >&2
  exit 1
fi
