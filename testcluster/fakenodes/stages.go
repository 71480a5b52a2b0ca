package fakenodes

import (
	_ "embed"
	"strings"
)

// BehaveKey is the annotation or label by which a pod (or, for hang, a claim or
// a service) asks for a behaviour other than the best:
//
//	never-ready      runs, and is never ready
//	slow, slow:10s   is ready after 3 s, or after the time given
//	crash            its containers crash again and again
//	fail             ends with exit code 1 (with restartPolicy Always: crash)
//	hang             stays pending; a claim is not bound, a load balancer gets no address
//	image-missing    stays pending with ImagePullBackOff
//	run              runs on though its restartPolicy is not Always
//	slow-delete:10s  is gone 3 s after its deletion, or after the time given
//
// A label can't hold a colon: times are given by annotation.
const BehaveKey = "testcluster.kubectl-release.dev/behave"

// Behaviour returns what an object with these annotations and labels is told
// to do, without the time; the annotation wins.
func Behaviour(annotations, labels map[string]string) string {
	told, found := annotations[BehaveKey]
	if !found {
		told = labels[BehaveKey]
	}
	name, _, _ := strings.Cut(told, ":")
	return name
}

// told is jq for the list of a behaviour and its argument.
const told = `(.metadata.annotations["` + BehaveKey + `"] // .metadata.labels["` + BehaveKey + `"] // "" | split(":"))`

// behave is jq for the behaviour of a pod. A container that fails is started
// again when restartPolicy is Always, and never when it is Never.
const behave = `(` + told + `[0] // "") as $b | .spec.restartPolicy as $p | ` +
	`(if $b == "fail" and $p == "Always" then "crash" elif $b == "crash" and $p == "Never" then "fail" else $b end)`

//go:embed stages.yaml
var stages string

// Stages returns the configuration of kwok.
func Stages() []byte {
	return []byte(strings.NewReplacer("$behave", "("+behave+")", "$argument", "("+told+"[1])").Replace(stages))
}
