package immutable

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

func (c *immutables) liveAt(path string) any {
	var value any = c.live
	for key := range strings.SplitSeq(path, ".") {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	return value
}

func job(c *immutables) {
	c.completions()
	c.jobTemplate()
}

// completions refuses changes to a Job's completions, except that those of an Indexed Job may change if they equal
// its parallelism, which defaults to 1 (1.36.3, pkg/apis/batch/validation/validation.go, validateCompletions).
func (c *immutables) completions() {
	const path = "spec.completions"
	_, completions, n, _ := c.at(path)
	spec, _ := c.after["spec"].(map[string]any)
	parallelism, given := spec["parallelism"]
	if !given {
		parallelism = int64(1)
	}
	indexed := c.liveAt("spec.completionMode") == string(batchv1.IndexedCompletion)
	if c.differs(path) && (!indexed || !apitypes.Equal(completions, parallelism, n)) {
		c.refuse(path, path+" is immutable")
	}
}

// jobTemplate refuses changes to the pod template, unless the Job is suspended
// and has not started: then scheduling directives may change.
func (c *immutables) jobTemplate() {
	const path = "spec.template"
	if !c.differs(path) {
		return
	}
	if c.liveAt("spec.suspend") == true && c.liveAt("status.startTime") == nil {
		return
	}
	c.refuse(path, path+" is immutable")
}

// clusterIP refuses changes to spec.clusterIP once it is allocated; "None" is an allocation.
func clusterIP(c *immutables) {
	live, target, n, given := c.at("spec.clusterIP")
	if c.liveAt("spec.type") == "ExternalName" {
		return
	}
	if given && live != nil && live != "" && !apitypes.Equal(live, target, n) {
		c.refuse("spec.clusterIP", "spec.clusterIP is immutable once it is allocated")
	}
}

// claim refuses changes to a PersistentVolumeClaim's spec, except that the requested storage may
// grow, the volumeAttributesClassName may change and an empty volumeName may be set.
func claim(c *immutables) {
	_, target, _, _ := c.at("spec")
	fields, _ := target.(map[string]any)
	for _, key := range jsontree.Keys(fields, nil) {
		path := "spec." + key
		switch key {
		case "resources":
			c.claimSize()
		case "volumeAttributesClassName":
		case "volumeName":
			if live := c.liveAt(path); live != nil && live != "" && c.differs(path) {
				c.refuse(path, path+" is immutable once the claim is bound")
			}
		default:
			if c.differs(path) {
				c.refuse(path, path+" is immutable after creation")
			}
		}
	}
}

// claimSize refuses to shrink a claim, except that an expansion that is not complete may be taken back in
// part, to more than the capacity of the bound volume (1.36.3, pkg/apis/core/validation/validation.go,
// ValidatePersistentVolumeClaimUpdate).
func (c *immutables) claimSize() {
	const path = "spec.resources.requests.storage"
	live, target, _, given := c.at(path)
	from, okFrom := apitypes.ParseQuantity(jsontree.Number(live))
	to, okTo := apitypes.ParseQuantity(jsontree.Number(target))
	if !given || !okFrom || !okTo || to.Cmp(from) >= 0 {
		return
	}
	capacity, known := apitypes.ParseQuantity(jsontree.Number(c.liveAt("status.capacity.storage")))
	if c.liveAt("status.phase") == "Bound" && known && to.Cmp(capacity) > 0 {
		return
	}
	c.refuse(path, path+" can't shrink")
}

// sealed refuses changes to these maps once the object is marked immutable.
func sealed(maps ...string) rule {
	return func(c *immutables) {
		if c.live["immutable"] != true {
			return
		}
		if c.after["immutable"] != true {
			c.refuse("immutable", "immutable can't be unset")
		}
		for _, key := range maps {
			if !apitypes.Equal(c.live[key], c.after[key], c.root.Child(key)) {
				c.refuse(key, key+" can't change because the object is marked immutable")
			}
		}
	}
}

// podSpec refuses changes to a pod's spec other than to images, deadlines, the termination grace
// period, tolerations and scheduling gates.
func podSpec(c *immutables) {
	_, target, _, _ := c.at("spec")
	fields, _ := target.(map[string]any)
	for _, key := range jsontree.Keys(fields, nil) {
		path := "spec." + key
		switch key {
		case "activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "schedulingGates":
		case "containers", "initContainers":
			c.podContainers(path)
		default:
			if c.differs(path) {
				c.refuse(path, path+" of a pod is immutable")
			}
		}
	}
}

func (c *immutables) podContainers(path string) {
	live, target, n, given := c.at(path)
	from, _ := live.([]any)
	to, _ := target.([]any)
	if !given {
		return
	}
	if len(from) != len(to) {
		c.refuse(path, path+" of a pod can't be added or removed")
		return
	}
	for _, item := range to {
		name := jsontree.KeyOf(item, "name")
		was, _ := jsontree.Find(from, "name", name).(map[string]any)
		container, _ := item.(map[string]any)
		for _, key := range jsontree.Keys(container, nil) {
			if key != "image" && !apitypes.Covers(was[key], container[key], n.Item().Child(key)) {
				id, _ := name.(string)
				field := path + "[" + id + "]." + key
				c.refuse(field, field+" of a pod is immutable")
			}
		}
	}
}
