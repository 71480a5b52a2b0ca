package redact

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/credential"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/plan"
)

// step returns a masked copy of a step. Names, and what the step expects, stay.
func (m *Mask) step(s plan.Step) plan.Step {
	secret, documents := s.Object.IsSecret(), documentsOf(s)
	s.Body = m.unstructured(s.Body, secret)
	s.Before = m.unstructured(s.Before, secret)
	s.After = m.unstructured(s.After, secret)
	s.Patch = m.patch(s.Patch, secret)
	s.Changes, s.Clears, s.Empties = m.changes(s.Changes, secret, documents), m.paths(s.Clears), m.paths(s.Empties)
	s.Estimate, s.Why = m.Text(s.Estimate), m.Text(s.Why)
	s.Place = m.place(s.Place)
	if s.Hook != nil {
		hook := *s.Hook
		hook.DeletePolicies = slices.Clone(hook.DeletePolicies)
		hook.LogPolicies = slices.Clone(hook.LogPolicies)
		s.Hook = &hook
	}
	if s.Record != nil {
		record := *s.Record
		record.Description = m.Text(record.Description)
		record.Supersede = slices.Clone(record.Supersede)
		record.Prune = slices.Clone(record.Prune)
		record.Fail = slices.Clone(record.Fail)
		s.Record = &record
	}
	return s
}

func (m *Mask) unstructured(u *unstructured.Unstructured, secret bool) *unstructured.Unstructured {
	if u == nil {
		return nil
	}
	var object map[string]any
	if secret {
		object, _ = m.object(u.Object, true).(map[string]any)
	} else {
		if _, clean := m.clean.Load(u); clean {
			return u
		}
		var changed bool
		if object, changed = m.table(u.Object); !changed {
			m.clean.Store(u, true)
			return u
		}
	}
	for _, field := range []string{"apiVersion", "kind"} {
		if v, ok := u.Object[field]; ok && object[field] != v {
			object = maps.Clone(object)
			object[field] = v
		}
	}
	return &unstructured.Unstructured{Object: object}
}

// patch masks a patch and encodes it again. A patch that is not an object is replaced by a token.
func (m *Mask) patch(patch []byte, secret bool) []byte {
	if patch == nil {
		return nil
	}
	var masked any = m.token(string(patch))
	if fields, ok := patchFields(patch); ok {
		masked = m.object(fields, secret)
	}
	out, err := json.Marshal(masked)
	if err != nil {
		return []byte(`""`)
	}
	return out
}

// changes masks changes of the documents.
func (m *Mask) changes(changes []plan.Change, secret bool, documents []map[string]any) []plan.Change {
	out, arguments := slices.Clone(changes), argumentsOf(changes, documents)
	for i := range out {
		out[i] = m.change(out[i], secret, arguments)
	}
	return out
}

func (m *Mask) change(c plan.Change, secret bool, arguments map[argument]bool) plan.Change {
	parts := jsontree.SplitPath(c.Path)
	c.From, c.To = jsontree.Plain(c.From), jsontree.Plain(c.To)
	named := namesCredential(parts, c, arguments) || len(parts) > 0 && parts[len(parts)-1] == "auth"
	switch {
	case c.Sensitive, secret && inData(parts), named && (isSecretScalar(c.From) || isSecretScalar(c.To)):
		c.Sensitive = true
		c.From, c.To = m.all(c.From), m.all(c.To)
	default:
		whole := secret && len(parts) == 0
		c.From, c.To = m.object(c.From, whole), m.object(c.To, whole)
		c.Sensitive = holdsToken(c.From) || holdsToken(c.To)
	}
	c.Path, c.Detail, c.Place = m.name(c.Path), m.name(c.Detail), m.place(c.Place)
	return c
}

// namesCredential reports whether a change is that of a credential: by the name of its field, or behind an option such as
// "--password" in a command line.
func namesCredential(parts []string, c plan.Change, arguments map[argument]bool) bool {
	if credential.InPath(parts) {
		return true
	}
	if len(arguments) == 0 || len(parts) < 2 {
		return false
	}
	index, err := strconv.Atoi(parts[len(parts)-1])
	if err != nil {
		return false
	}
	from, _ := jsontree.ScalarText(c.From)
	to, _ := jsontree.ScalarText(c.To)
	return arguments[argument{index, from}] || arguments[argument{index, to}]
}

// argument is a credential behind an option in some command line, by its place there. Looking for the command line of
// each change would take time quadratic in the length of lists.
type argument struct {
	index int
	value string
}

// argumentsOf returns the arguments that are credentials in the documents; nil if there are no changes.
func argumentsOf(changes []plan.Change, documents []map[string]any) map[argument]bool {
	if len(changes) == 0 {
		return nil
	}
	found := map[argument]bool{}
	for _, document := range documents {
		addArguments(document, found)
	}
	return found
}

func addArguments(v any, found map[argument]bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			addArguments(value, found)
		}
	case []any:
		for i, item := range v {
			if followsOption(v, i) {
				text, _ := jsontree.ScalarText(item)
				found[argument{i, text}] = true
			}
			addArguments(item, found)
		}
	}
}

// documentsOf returns the objects that a step's changes are about.
func documentsOf(s plan.Step) (out []map[string]any) {
	for _, u := range []*unstructured.Unstructured{s.Body, s.Before, s.After} {
		if u != nil {
			out = append(out, u.Object)
		}
	}
	return out
}

// valuesOf returns the values that the changes of a plan's values are about; those of subcharts, and those before, are
// not in the plan.
func valuesOf(p *plan.Plan) (out []map[string]any) {
	if p.Record != nil {
		out = append(out, p.Record.Config)
		if p.Record.Chart != nil {
			out = append(out, p.Record.Chart.Values)
		}
	}
	return out
}

// place masks secrets in names of files.
func (m *Mask) place(p plan.Place) plan.Place {
	p.File = m.name(p.File)
	return p
}

// policy masks secrets in a policy.
func (m *Mask) policy(p plan.Policy) plan.Policy {
	p.Deny, p.Allow = slices.Clone(p.Deny), slices.Clone(p.Allow)
	for _, rules := range [][]plan.Rule{p.Deny, p.Allow} {
		for i := range rules {
			rules[i].Because, rules[i].Expression = m.Text(rules[i].Because), m.Text(rules[i].Expression)
		}
	}
	return p
}

func holdsToken(v any) bool {
	s, ok := v.(string)
	return ok && IsToken(s)
}
