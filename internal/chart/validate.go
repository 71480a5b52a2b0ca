package chart

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/Masterminds/semver/v3"
)

// The two versions of the chart format; a missing apiVersion means APIVersionV1.
const (
	APIVersionV1 = "v1"
	APIVersionV2 = "v2"
)

// Validate checks the metadata and cleans its text in place: white space becomes plain spaces and
// unprintable characters are removed. It cleans and rejects what Helm 4.3.1 does
// (pkg/chart/v2/metadata.go, Validate), but reports all errors, not only the first.
func (m *Metadata) Validate() error {
	if m == nil {
		return errors.New("Chart.yaml is missing or empty")
	}
	m.clean()
	errs := []error{
		required("apiVersion", m.APIVersion),
		validateName(m.Name),
		validateVersion(m.Version),
	}
	switch m.Type {
	case "", "application", "library":
	default:
		errs = append(errs, fmt.Errorf("type must be application or library, not %q", m.Type))
	}
	for _, p := range m.Maintainers {
		if p == nil {
			errs = append(errs, errors.New("maintainers must not contain an empty entry"))
		}
	}
	return errors.Join(append(errs, validateDependencies(m.Dependencies)...)...)
}

func required(field, value string) error {
	if value == "" {
		return fmt.Errorf("%s is required", field)
	}
	return nil
}

// validateName rejects names that would make a path leave the chart's folder.
func validateName(name string) error {
	switch {
	case name == "":
		return errors.New("name is required")
	case name == ".", name == "..", name != path.Base(name), strings.ContainsRune(name, '\\'):
		return fmt.Errorf("name %q must be a single path element", name)
	}
	return nil
}

func validateVersion(version string) error {
	if version == "" {
		return errors.New("version is required")
	}
	if _, err := semver.NewVersion(version); err != nil {
		return fmt.Errorf("version %q is not a semantic version", version)
	}
	return nil
}

func validateDependencies(deps []*Dependency) []error {
	alias := regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	seen := map[string]bool{}
	var errs []error
	for _, d := range deps {
		if d == nil {
			errs = append(errs, errors.New("dependencies must not contain an empty entry"))
			continue
		}
		if d.Alias != "" && !alias.MatchString(d.Alias) {
			errs = append(errs, fmt.Errorf("dependency %q: alias %q may contain only letters, digits, - and _", d.Name, d.Alias))
		}
		if seen[d.EffectiveName()] {
			errs = append(errs, fmt.Errorf("more than one dependency is named or aliased %q", d.EffectiveName()))
		}
		seen[d.EffectiveName()] = true
	}
	return errs
}

// EffectiveName returns the subchart's name in values and template paths: the alias if there is one.
func (d *Dependency) EffectiveName() string {
	if d.Alias != "" {
		return d.Alias
	}
	return d.Name
}

// clean cleans only the fields that Helm cleans: a version with stray characters must be rejected,
// not corrected.
func (m *Metadata) clean() {
	fields := []*string{
		&m.Name, &m.Description, &m.Home, &m.Icon,
		&m.Condition, &m.Tags, &m.AppVersion, &m.KubeVersion,
	}
	for i := range m.Sources {
		fields = append(fields, &m.Sources[i])
	}
	for i := range m.Keywords {
		fields = append(fields, &m.Keywords[i])
	}
	for _, p := range m.Maintainers {
		if p != nil {
			fields = append(fields, &p.Name, &p.Email, &p.URL)
		}
	}
	for _, d := range m.Dependencies {
		if d == nil {
			continue
		}
		fields = append(fields, &d.Name, &d.Version, &d.Repository, &d.Condition)
		for i := range d.Tags {
			fields = append(fields, &d.Tags[i])
		}
	}
	for _, f := range fields {
		*f = printable(*f)
	}
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, s)
}
