package plan

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
	yamlv3 "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// policyFile is the format of a policy file: see docs/policy.md.
type policyFile struct {
	Deny  []policyRule `json:"deny"`
	Allow []policyRule `json:"allow"`
	// Review asks people to review, and blocks nothing.
	Review []policyReview `json:"review"`
}

type policyRule struct {
	Risk  string   `json:"risk"`
	Kinds []string `json:"kinds"`
	Names []string `json:"names"`
	// Expression is a CEL expression; a rule with one needs no risk.
	Expression string `json:"expression"`
	Because    string `json:"because"`
}

type policyReview struct {
	By      string   `json:"by"`
	Risk    string   `json:"risk"`
	DriftOf []string `json:"driftOf"`
	Kinds   []string `json:"kinds"`
	Names   []string `json:"names"`
}

// ParsePolicy parses a policy file. source is its name, for messages. It is strict: unknown and
// duplicate fields, unknown risks, malformed patterns and expressions, and a file that neither
// denies anything nor asks for reviews are errors.
func ParsePolicy(data []byte, source string) (Policy, error) {
	if len(manifest.Split(string(data))) > 1 {
		return Policy{}, fmt.Errorf("read the policy %s: it must be a single document", source)
	}
	var file policyFile
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		return Policy{}, fmt.Errorf("read the policy %s: %w", source, err)
	}
	if len(file.Deny)+len(file.Review) == 0 {
		return Policy{}, fmt.Errorf("read the policy %s: it neither denies anything nor asks for a review: add a list named deny or review", source)
	}
	lines := linesOf(data)
	deny, errDeny := lines.rules(file.Deny, "deny", source)
	allow, errAllow := lines.rules(file.Allow, "allow", source)
	review, errReview := lines.reviews(file.Review, source)
	if err := errors.Join(errDeny, errAllow, errReview); err != nil {
		return Policy{}, fmt.Errorf("read the policy %s: %w", source, err)
	}
	return Policy{Deny: deny, Allow: allow, Review: review}, nil
}

// kindName matches kinds as in manifests (PersistentVolumeClaim, StatefulSet.apps), not the
// resource names that kubectl also takes (persistentvolumeclaims, sts).
var kindName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(\.[a-z0-9][-.a-z0-9]*)?$`)

func (l ruleLines) rules(read []policyRule, list, source string) ([]Rule, error) {
	out := make([]Rule, 0, len(read))
	var errs []error
	for i, r := range read {
		rule, err := r.rule(source)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", l.at(list, i), err))
		}
		if list == "deny" && r.Risk == "" && r.Expression != "" && r.Because == "" {
			errs = append(errs, fmt.Errorf("%s: because is required for a rule without a risk: it is the reason that people see", l.at(list, i)))
		}
		errs = append(errs, objects(l.at(list, i), r.Kinds, r.Names))
		out = append(out, rule)
	}
	return out, errors.Join(errs...)
}

// rule converts a rule from the file, which must have a risk or an expression.
func (r policyRule) rule(source string) (out Rule, err error) {
	out = Rule{Kinds: r.Kinds, Names: r.Names, Expression: r.Expression, Because: r.Because, Source: source}
	if r.Risk != "" || r.Expression == "" {
		if out.Risk, err = parseRisk(r.Risk); err != nil {
			return out, err
		}
	}
	if r.Expression != "" {
		if _, err := compileExpression(r.Expression); err != nil {
			return out, fmt.Errorf("expression: %w", err)
		}
	}
	return out, nil
}

// ruleLines holds the line numbers where the rules of a file begin, by list.
type ruleLines map[string][]int

func linesOf(data []byte) ruleLines {
	var file map[string]yamlv3.Node
	if yamlv3.Unmarshal(data, &file) != nil {
		return nil
	}
	lines := ruleLines{}
	for list, node := range file {
		for _, rule := range node.Content {
			lines[list] = append(lines[list], rule.Line)
		}
	}
	return lines
}

// at returns the position of a rule for messages: "deny[1] (line 4)".
func (l ruleLines) at(list string, i int) string {
	if i >= len(l[list]) {
		return fmt.Sprintf("%s[%d]", list, i)
	}
	return fmt.Sprintf("%s[%d] (line %d)", list, i, l[list][i])
}

// objects returns an error for malformed kinds and names of a rule.
func objects(at string, given, names []string) error {
	var errs []error
	for _, kind := range given {
		if !kindName.MatchString(kind) {
			errs = append(errs, fmt.Errorf("%s: %q is not a kind: write kinds as in manifests, Kind or Kind.group", at, kind))
		} else if meant := misspelt(kind); meant != "" {
			errs = append(errs, fmt.Errorf("%s: %q is not a kind: did you mean %s?", at, kind, meant))
		}
	}
	for _, name := range names {
		if !isPattern(name) {
			errs = append(errs, fmt.Errorf("%s: %q is not a valid pattern for names", at, name))
		}
	}
	return errors.Join(errs...)
}

func isPattern(s string) bool {
	_, err := path.Match(s, "")
	return err == nil && s != ""
}

// misspelt returns the kind of Kubernetes' own that has the same letters but for their case; "" if
// there is none, or the kind is of another group.
func misspelt(kind string) string {
	name, group, _ := strings.Cut(kind, ".")
	for _, known := range kinds.All() {
		if known.Kind != name && strings.EqualFold(known.Kind, name) && (group == "" || group == known.Group) {
			return strings.TrimSuffix(known.Kind+"."+group, ".")
		}
	}
	return ""
}
