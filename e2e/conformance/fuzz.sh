#!/usr/bin/env bash
# Runs every fuzz target of the module for FUZZTIME each, two at a time with one
# core each, and then, for FUZZTIME as well, the differential fuzzer: small
# charts made at random, rendered by Helm 4.3.1 and by us. A crash is kept as a
# seed in testdata/fuzz; a difference is printed with the flags that replay it.
set -euo pipefail
cd "$(dirname "$0")/../.."
FUZZTIME=${FUZZTIME:-60s}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

target() { # FILE:FUNC
  local dir=${1%%:*} func=${1##*:}
  dir=$(dirname "$dir")
  if GOMAXPROCS=1 go test -run '^$' -fuzz "^$func\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 5s -parallel 1 "$dir" > "$logs/$func" 2>&1 ||
    late "$logs/$func"; then
    printf '%-14s %s\n' "$func" "$(grep -o 'elapsed: .*' "$logs/$func" | tail -n 1)"
  else
    cat "$logs/$func"
    return 1
  fi
}

# late says that a run failed only since its time was up in the middle of an
# input (go.dev/issue/75804): nothing was found.
late() { grep -q 'context deadline exceeded' "$1" && ! grep -qE 'Failing input|panic|fuzz_test.go|_test.go:' "$1"; }
export -f target late
export FUZZTIME logs

go build -C e2e/conformance -o "$logs/fuzz.bin" ./cmd/fuzz
grep -rn --include='*_test.go' -o '^func Fuzz[A-Za-z0-9_]*' . | sed -E 's/^([^:]*):[0-9]+:func /\1:/' | sort |
  xargs -P 2 -I{} bash -c 'target {}'
"$logs/fuzz.bin" --helm testcluster/bin/helm4 --ours bin/kubectl-release --for "$FUZZTIME"
