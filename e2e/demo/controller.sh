#!/usr/bin/env bash
# The life of a HelmRelease on a real control plane, with kubectl-release-controller in
# place of helm-controller. The script plays source-controller: a registry serves the
# charts, and the status of the OCIRepository is written by hand.
#
# Needed in PATH: kubectl-release, kubectl-release-controller, and testcluster, kubectl and
# registry from testcluster/bin.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

. "$here/steps.sh"

without_helm_variables
home=$(mktemp -d)
export KUBECONFIG=$home/kubeconfig KUBECACHEDIR=$home/cache HELM_CACHE_HOME=$home/helm/cache HELM_CONFIG_HOME=$home/helm/config
cp -r "$here/controller" "$home/web"
cp -r "$here/../../packaging/controller" "$home/release-controller"
crds=$here/../../../shared/flux/crds
[ -d "$crds" ] || crds=$here/../controller/testdata/crds
cd "$home"
start_cluster "$home"
finish() {
  for process in "${controller:-}" "${registry:-}"; do
    [ -z "$process" ] || kill "$process" 2> /dev/null || true
  done
  [ -z "${controller:-}" ] || wait "$controller" || true
  kill "$cluster" 2> /dev/null && wait "$cluster" || true
  rm -rf "$home"
}
trap finish EXIT

say 'A real control plane starts, with the CRDs of Flux; kwok plays the kubelet.'
await_log "$cluster" "$home/log" ready
kubectl apply --server-side -f "$crds" > /dev/null
kubectl wait --for=condition=Established crd --all --timeout=5m > /dev/null
kubectl create namespace flux-system > /dev/null
run 0 kubectl create namespace shop
kubectl config set-context --current --namespace shop > /dev/null

free_port
serve_registry "127.0.0.1:$port" "$home"

# publish VERSION makes the chart's artifact, as source-controller does.
publish() {
  sed -i "s/^version: .*/version: $1/" web/Chart.yaml
  kubectl release package ./web > /dev/null
  kubectl release push "web-$1.tgz" "oci://127.0.0.1:$port/charts" > /dev/null
  local digest
  digest=sha256:$(sha256sum "web-$1.tgz" | cut -d' ' -f1)
  kubectl apply -f - > /dev/null << YAML
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: web}
spec: {interval: 10m, url: "oci://127.0.0.1:$port/charts/web", ref: {semver: ">=0.0.0"}}
YAML
  kubectl patch ocirepository web --subresource=status --type=merge -p "{\"status\": {\"observedGeneration\": 1, \"artifact\": {
    \"url\": \"http://127.0.0.1:$port/v2/charts/web/blobs/$digest\", \"digest\": \"$digest\", \"revision\": \"$1@$digest\",
    \"path\": \"web-$1.tgz\", \"lastUpdateTime\": \"2026-01-01T00:00:00Z\"}}}" > /dev/null
}

# until_is TEXT JSONPATH [OBJECT...] waits until JSONPATH of the HelmRelease, or of OBJECT, contains TEXT.
until_is() {
  local text=$1 path=$2
  shift 2
  [ $# -gt 0 ] || set -- helmrelease web
  for ((i = 0; i < 3000; i++)); do
    case $(kubectl get "$@" -o "jsonpath=$path" 2> /dev/null) in *"$text"*) return ;; esac
    kill -0 "$controller" 2> /dev/null || break
    sleep 0.1
  done
  kubectl get helmrelease web -o yaml >&2
  tail -5 "$home/controller.log" >&2
  exit 1
}
ready='{.status.conditions[?(@.type=="Ready")].status} {.status.history[0].chartVersion}'

say 'The controller is installed from its chart, without a pod, since nothing runs containers here.'
run 0 kubectl release install release-controller ./release-controller -n flux-system --set replicas=0,eventsAddr=,extraArgs={--log-encoding=console}

say 'Its program starts with the arguments of the Deployment, as its ServiceAccount, and takes the lease of helm-controller.'
deployment=(kubectl -n flux-system get deployment release-controller -o)
account=$("${deployment[@]}" 'jsonpath={.spec.template.spec.serviceAccountName}')
mapfile -t arguments < <("${deployment[@]}" 'jsonpath={range .spec.template.spec.containers[0].args[*]}{@}{"\n"}{end}')
kubectl config view --raw --minify > "$home/controller.kubeconfig"
kubectl config --kubeconfig "$home/controller.kubeconfig" unset users > /dev/null
kubectl config --kubeconfig "$home/controller.kubeconfig" set-credentials "$account" --token "$(kubectl -n flux-system create token "$account")" > /dev/null
kubectl config --kubeconfig "$home/controller.kubeconfig" set-context --current --user "$account" > /dev/null
KUBECONFIG=$home/controller.kubeconfig RUNTIME_NAMESPACE=flux-system \
  kubectl-release-controller "${arguments[@]}" --cache-dir="$home/discovery" --metrics-addr=0 --health-addr=0 > "$home/controller.log" 2>&1 9>&- &
controller=$!
await_log "$controller" "$home/controller.log" 'Starting workers'

say 'A HelmRelease: what it asks for is installed.'
publish 1.0.0
cat > web.yaml << 'YAML'
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web}
spec:
  interval: 5s
  chartRef: {kind: OCIRepository, name: web}
  driftDetection: {mode: enabled}
  upgrade: {remediation: {retries: 1}}
YAML
run 0 kubectl apply -f web.yaml
run 0 kubectl wait --for=condition=Ready helmrelease/web --timeout=5m
run 0 kubectl release history web

say 'The chart has a new version: the release is upgraded.'
publish 1.1.0
until_is 'True 1.1.0' "$ready"
run 0 kubectl get deployment web

say 'Somebody scales it by hand: the drift is corrected, without a new revision.'
run 0 kubectl scale deployment web --replicas=5
until_is 2 '{.spec.replicas}' deployment web
run 0 kubectl get deployment web
until_is DriftDetected '{.items[*].reason}' events --field-selector reason=DriftDetected
run 0 kubectl get events --field-selector reason=DriftDetected -o 'jsonpath={.items[0].message}'
echo

# Only the upgrade has the short timeout: the rollback has to succeed.
say 'An upgrade that fails: it is rolled back, and retried once.'
run 0 kubectl patch helmrelease web --type=merge -p '{"spec": {"upgrade": {"timeout": "5s"}, "values": {"behave": "crash"}}}'
until_is RetriesExceeded '{.status.conditions[?(@.type=="Stalled")].reason}'
run 0 kubectl release history web

say 'The values are fixed; from now on, plans wait for approval.'
run 0 kubectl annotate helmrelease web kubectl-release.dev/plan=require-approval
run 0 kubectl patch helmrelease web --type=merge -p '{"spec": {"upgrade": {"timeout": null}, "values": {"behave": "", "replicas": 3}}}'
until_is ApprovalRequired '{.status.conditions[?(@.type=="Approved")].reason}'
run 0 kubectl release approvals
run 0 $(kubectl release approvals | grep -o 'kubectl annotate .*')
until_is 'True 1.1.0' "$ready"
run 0 kubectl get deployment web

say 'The HelmRelease is deleted, and its release with it.'
run 0 kubectl delete helmrelease web --timeout=5m
run 0 kubectl get deployments,secrets
run 0 kubectl release uninstall release-controller -n flux-system
