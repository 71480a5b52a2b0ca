package plan

import (
	"errors"
	"fmt"
	"path"
	"regexp"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// policyFile is the form of a policy file: see docs/policy.md.
type policyFile struct {
	Deny  []policyRule `json:"deny"`
	Allow []policyRule `json:"allow"`
}

type policyRule struct {
	Risk    string   `json:"risk"`
	Kinds   []string `json:"kinds"`
	Names   []string `json:"names"`
	Because string   `json:"because"`
}

// ParsePolicy reads a policy file. source is its name, for messages. Nothing in
// it is overlooked: unknown and repeated fields, unknown risks, broken patterns
// and a file that denies nothing are errors.
func ParsePolicy(data []byte, source string) (Policy, error) {
	if len(manifest.Split(string(data))) > 1 {
		return Policy{}, fmt.Errorf("read the policy %s: it has to be one document", source)
	}
	var file policyFile
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		return Policy{}, fmt.Errorf("read the policy %s: %w", source, err)
	}
	if len(file.Deny) == 0 {
		return Policy{}, fmt.Errorf("read the policy %s: it denies nothing: it has to have a list named deny", source)
	}
	deny, errDeny := rules(file.Deny, "deny", source)
	allow, errAllow := rules(file.Allow, "allow", source)
	if err := errors.Join(errDeny, errAllow); err != nil {
		return Policy{}, fmt.Errorf("read the policy %s: %w", source, err)
	}
	return Policy{Deny: deny, Allow: allow}, nil
}

// kindName tells PersistentVolumeClaim and StatefulSet.apps from what kubectl
// takes as well, persistentvolumeclaims and sts.
var kindName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(\.[a-z0-9][-.a-z0-9]*)?$`)

func rules(read []policyRule, list, source string) ([]Rule, error) {
	out := make([]Rule, 0, len(read))
	var errs []error
	for i, r := range read {
		risk, err := parseRisk(r.Risk)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s[%d]: %w", list, i, err))
		}
		for _, kind := range r.Kinds {
			if !kindName.MatchString(kind) {
				errs = append(errs, fmt.Errorf("%s[%d]: %q is no kind: they are written as in manifests, Kind or Kind.group", list, i, kind))
			}
		}
		for _, name := range r.Names {
			if _, err := path.Match(name, ""); err != nil || name == "" {
				errs = append(errs, fmt.Errorf("%s[%d]: %q is no pattern of names", list, i, name))
			}
		}
		out = append(out, Rule{Risk: risk, Kinds: r.Kinds, Names: r.Names, Because: r.Because, Source: source})
	}
	return out, errors.Join(errs...)
}
