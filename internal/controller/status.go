package controller

import (
	"encoding/json"
	"reflect"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
)

// statusPatch is the merge patch from one status to the next, nil where they are the
// same. Lists and tables are sent whole.
func statusPatch(was, is flux.HelmReleaseStatus) ([]byte, error) {
	before, err := fields(was)
	if err != nil {
		return nil, err
	}
	after, err := fields(is)
	if err != nil {
		return nil, err
	}
	changed := map[string]any{}
	for name, value := range after {
		if !reflect.DeepEqual(before[name], value) {
			changed[name] = value
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			changed[name] = nil
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	return json.Marshal(map[string]any{"status": changed})
}

func fields(s flux.HelmReleaseStatus) (map[string]any, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(data, &out)
}

// inSync says whether the status of the pass asks for nothing more: all is as it
// should be until something changes.
func inSync(hr *flux.HelmRelease) bool {
	return decision.Ready(hr) && !hr.Spec.Suspend && hr.Metadata.DeletionTimestamp == nil &&
		flux.Condition(hr.Status.Conditions, "Reconciling") == nil
}
