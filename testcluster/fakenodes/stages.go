package fakenodes

import (
	_ "embed"
	"strings"
)

// BehaveKey is the annotation or label with which a pod (or, for hang, a claim or
// a Service) asks for a behaviour other than success:
//
//	never-ready      runs, but is never ready
//	slow, slow:10s   is ready after 3 s, or after the time given
//	crash            its containers crash again and again
//	fail             ends with exit code 1 (with restartPolicy Always: crash)
//	hang             stays pending; a claim is not bound, a load balancer gets no address
//	image-missing    stays pending with ImagePullBackOff
//	run              keeps running although its restartPolicy is not Always
//	slow-delete:10s  is gone 3 s after its deletion, or after the time given
//
// A label can't contain a colon, so times need an annotation.
const BehaveKey = "testcluster.kubectl-release.dev/behave"

// Behaviour returns the behaviour that an object with these annotations and labels asks
// for, without the time; the annotation takes precedence.
func Behaviour(annotations, labels map[string]string) string {
	told, found := annotations[BehaveKey]
	if !found {
		told = labels[BehaveKey]
	}
	name, _, _ := strings.Cut(told, ":")
	return name
}

// told is a jq expression for the list of a pod's behaviour and its argument.
const told = `(.metadata.annotations["` + BehaveKey + `"] // .metadata.labels["` + BehaveKey + `"] // "" | split(":"))`

// behave is a jq expression for the behaviour of a pod. A container that fails is
// always restarted with restartPolicy Always, and never with Never.
const behave = `(` + told + `[0] // "") as $b | .spec.restartPolicy as $p | ` +
	`(if $b == "fail" and $p == "Always" then "crash" elif $b == "crash" and $p == "Never" then "fail" else $b end)`

//go:embed stages.yaml
var stages string

// Stages returns the configuration for kwok.
func Stages() []byte {
	return []byte(strings.NewReplacer("$behave", "("+behave+")", "$argument", "("+told+"[1])").Replace(stages))
}
