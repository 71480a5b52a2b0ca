// Package redact finds the secrets in a plan and replaces them by tokens, in the plan itself and in
// any text that is printed beside it.
//
// It prints nothing, and it does not decide whether secrets may be shown.
package redact

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Plan returns a copy of the plan that may be shown; objects without secrets are shared with it.
// These values are replaced by tokens such as "(sensitive 9f2c…)":
//
//   - values of data and stringData of Secrets, however these are spelt, in bodies, patches and changes, and of
//     Secrets within other objects;
//   - the same values wherever else they appear, escaped and encoded in any of the
//     ways that package haystack knows: from 4 characters on if they stand alone, from 8 on
//     anywhere (12 for plain lower-case words), not counting space around them.
//     Words such as "true", numbers of up to 5 digits and shorter values are
//     masked in the Secret only;
//   - values named like a credential (password, token, apiKey …), also within JSON, YAML, INI and properties files
//     that are texts of objects or values, and passwords in URLs and command lines, wherever they appear; those of
//     the user's values, too, as long as the plan has its Record;
//   - what templates have read from Secrets of the cluster, wherever it appears;
//   - the fields of Options.Sensitive, wherever their values appear.
//
// Names of objects and of the release are never masked, and neither is a value that is part of such
// a name. Notes are prose: see Mask.Notes. The copy has no Record, which holds chart and values.
//
// Secrets of the other plans are masked, too: the plan of a rollback quotes the run that it undoes.
func Plan(p *plan.Plan, others ...*plan.Plan) *plan.Plan {
	return NewMask(p, others...).Plan(p)
}

// Plan is the function Plan with a mask that was made from p, and possibly from others.
func (m *Mask) Plan(p *plan.Plan) *plan.Plan {
	p = hide(p, m.all)
	out := *p
	out.Record, out.Secrets = nil, nil
	if p.Against != nil {
		against := *p.Against
		against.Name = m.Text(against.Name)
		out.Against = &against
	}
	if p.ChartSource != nil {
		from := *p.ChartSource
		from.Reference, from.Repository, from.URL = m.Text(from.Reference), m.Text(from.Repository), m.Text(from.URL)
		out.ChartSource = &from
	}
	if p.ChartLock != nil {
		lock := *p.ChartLock
		lock.OutOfSync = m.Text(lock.OutOfSync)
		out.ChartLock = &lock
	}
	out.Place = m.place(p.Place)
	out.Found, out.Notes = m.Text(p.Found), m.Notes(p.Notes)
	out.Cluster.Server = m.Text(p.Cluster.Server)
	out.Options.Description = m.Text(p.Options.Description)
	out.Options.Labels = maps.Clone(p.Options.Labels)
	for key, value := range out.Options.Labels {
		out.Options.Labels[key] = m.Text(value)
	}
	out.Options.Policy = m.policy(p.Options.Policy)
	out.Values = m.changes(p.Values, false, valuesOf(p))
	out.Impact = m.impact(p.Impact)
	out.Reviews = m.reviews(p.Reviews)
	out.Problems = m.Problems(p.Problems)
	out.NotUndone = m.lasting(p.NotUndone)
	out.Stages = m.stages(p.Stages)
	if p.OnFailure != nil {
		failing := *p.OnFailure
		failing.Stages = m.stages(failing.Stages)
		if failing.Rollback != nil {
			back := *failing.Rollback
			back.Lasting = m.lasting(back.Lasting)
			failing.Rollback = &back
		}
		out.OnFailure = &failing
	}
	return &out
}

func (m *Mask) lasting(effects []plan.Lasting) []plan.Lasting {
	out := slices.Clone(effects)
	for i := range out {
		out[i].What = m.Text(out[i].What)
	}
	return out
}

func (m *Mask) stages(stages []plan.Stage) []plan.Stage {
	out := slices.Clone(stages)
	for i := range out {
		out[i].Waves = slices.Clone(out[i].Waves)
		for j := range out[i].Waves {
			wave := &out[i].Waves[j]
			wave.Steps = slices.Clone(wave.Steps)
			for k := range wave.Steps {
				wave.Steps[k] = m.step(wave.Steps[k])
			}
		}
	}
	return out
}

// Problems returns a plan's problems as they may be shown.
func (m *Mask) Problems(problems []plan.Problem) []plan.Problem {
	out := slices.Clone(problems)
	for i := range out {
		out[i].What, out[i].Do = m.Text(out[i].What), m.Text(out[i].Do)
		out[i].Fields = m.paths(out[i].Fields)
		out[i].Place = m.place(out[i].Place)
	}
	return out
}

// collect adds the values that must not be printed. Objects come first: they show which values are
// base64, which changes may not.
func collect(p *plan.Plan, found *secrets) {
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		for _, object := range documentsOf(*s) {
			collectObject(object, s.Object.IsSecret(), found)
		}
		if patch, ok := patchFields(s.Patch); ok {
			collectObject(patch, s.Object.IsSecret(), found)
		}
	})
	collectChanges(p.Values, false, valuesOf(p), found)
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		collectChanges(s.Changes, s.Object.IsSecret(), documentsOf(*s), found)
	})
}

func collectObject(v any, secret bool, found *secrets) {
	found.addCredentials(v)
	fields, ok := v.(map[string]any)
	if !secret || !ok {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if serverfields.IsSecretField(key) {
			found.addTree(fields[key], key != "stringData")
		}
	}
}

func collectChanges(changes []plan.Change, secret bool, documents []map[string]any, found *secrets) {
	arguments := argumentsOf(changes, documents)
	for _, c := range changes {
		parts := jsontree.SplitPath(c.Path)
		for _, v := range []any{jsontree.Plain(c.From), jsontree.Plain(c.To)} {
			switch {
			case secret && inData(parts):
				found.addTree(v, parts[0] != "stringData")
				found.addTree(v, false)
			case c.Sensitive:
				found.addTree(v, false)
			case isSecretScalar(v) && namesCredential(parts, c, arguments):
				found.addScalar(v)
			case secret && len(parts) == 0:
				collectObject(v, true, found)
			default:
				found.addCredentials(v)
			}
		}
	}
}

// inData reports whether a path is in a Secret's data.
func inData(parts []string) bool { return len(parts) > 0 && serverfields.IsSecretField(parts[0]) }

// patchFields decodes a merge patch, strategic or not. What is not an object is no patch of a plan.
func patchFields(patch []byte) (map[string]any, bool) {
	v, _ := parseJSON(patch)
	fields, ok := v.(map[string]any)
	return fields, ok
}

func parseJSON(text []byte) (any, bool) {
	if len(text) == 0 {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	return v, d.Decode(&v) == nil
}

// names returns the texts that the plan prints as names.
func names(p *plan.Plan) []string {
	out := []string{p.Release.Name, p.Release.Namespace, p.ChartFrom.Name, p.ChartTo.Name}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		out = append(out, s.Object.Kind, s.Object.Name, s.Object.Namespace)
	})
	return out
}
