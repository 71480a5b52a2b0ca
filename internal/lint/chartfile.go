package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

const chartFile = "Chart.yaml"

// chartFile checks Chart.yaml as it is written, before loading has completed or cleaned
// up anything. The rules and their severities are those of Helm 4.3.1
// (pkg/chart/v2/lint/rules/chartfile.go, Chartfile).
func (r *run) chartFile() {
	f := r.file(chartFile)
	if f == nil {
		message := "it is missing"
		if r.folder(chartFile) {
			message = "it must be a file, not a folder"
		}
		r.add(Finding{Severity: Error, Path: chartFile, Message: message})
		return
	}
	text := string(f.Data)
	var m chart.Metadata
	if err := yaml.Unmarshal(f.Data, &m); err != nil {
		path, line, message := placed(chartFile, yamlMessage(err))
		r.add(Finding{Severity: Error, Path: path, Line: line, Message: "its YAML can't be read: " + message})
		return
	}
	at := func(severity Severity, key string, err error) {
		if err != nil {
			r.add(Finding{Severity: severity, Path: chartFile, Line: topKeyLine(text, key), Message: err.Error()})
		}
	}
	if key := unknownField(f.Data); key != "" {
		r.add(Finding{Severity: Warning, Path: chartFile, Line: keyLine(text, key), Message: fmt.Sprintf("field %q is unknown", key)})
	}
	at(Error, "name", chartName(m.Name))
	at(Error, "apiVersion", chartAPIVersion(m.APIVersion))
	at(Error, "version", isText(f.Data, "version"))
	at(Error, "version", chartVersion(m.Version))
	at(Error, "appVersion", isText(f.Data, "appVersion"))
	at(Error, "maintainers", chartMaintainers(m.Maintainers))
	at(Error, "sources", chartSources(m.Sources))
	at(Info, "icon", present("icon", m.Icon))
	at(Error, "icon", chartIcon(m.Icon))
	at(Error, "kubeVersion", r.kubeVersion(m.KubeVersion))
	if m.APIVersion != chart.APIVersionV2 {
		at(Error, "type", onlyV2("type", m.Type != ""))
		at(Error, "dependencies", onlyV2("dependencies", len(m.Dependencies) > 0))
	}
	at(Warning, "version", strictVersion(m.Version))
	if m.Deprecated {
		at(Info, "deprecated", errors.New("the chart is deprecated"))
	}
}

// unknownField returns the first field that Chart.yaml must not have, or "".
func unknownField(data []byte) string {
	raw, err := yaml.YAMLToJSON(data)
	if err != nil {
		return ""
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err = d.Decode(&chart.Metadata{})
	if err == nil {
		return ""
	}
	key, ok := strings.CutPrefix(err.Error(), `json: unknown field "`)
	if !ok {
		return ""
	}
	return strings.TrimSuffix(key, `"`)
}

// isText rejects numbers and dates: an unquoted 1.10 would be version 1.1.
func isText(data []byte, key string) error {
	fields := map[string]any{}
	if err := yaml.Unmarshal(data, &fields); err != nil {
		return nil // the caller has reported it already
	}
	value, ok := fields[key]
	if _, isString := value.(string); !ok || isString {
		return nil
	}
	return fmt.Errorf("%s must be a string, but %v is not: put it in quotes", key, value)
}

func chartName(name string) error {
	switch {
	case name == "":
		return errors.New("name is required")
	case path.Base(name) != name:
		return fmt.Errorf("name %q must not be a path", name)
	}
	return nil
}

func chartAPIVersion(v string) error {
	switch v {
	case "":
		return errors.New("apiVersion is required: v1 or v2")
	case chart.APIVersionV1, chart.APIVersionV2:
		return nil
	}
	return fmt.Errorf("apiVersion is %q; it must be v1 or v2", v)
}

func chartVersion(text string) error {
	if text == "" {
		return errors.New("version is required")
	}
	v, err := semver.NewVersion(text)
	if err != nil {
		return fmt.Errorf("version %q is not a semantic version", text)
	}
	if v.Major() == 0 && v.Minor() == 0 && v.Patch() == 0 && v.Prerelease() == "0" {
		return fmt.Errorf("version %s is not greater than 0.0.0-0", text)
	}
	return nil
}

func strictVersion(text string) error {
	if _, err := semver.StrictNewVersion(text); err != nil {
		return fmt.Errorf("version %q is not strict SemVer 2: it needs three numbers and no leading v", text)
	}
	return nil
}

// emailForm is deliberately loose: one @ and a domain with a dot.
var emailForm = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s.]+$`)

func chartMaintainers(people []*chart.Maintainer) error {
	var errs []error
	for _, p := range people {
		switch {
		case p == nil:
			errs = append(errs, errors.New("a maintainer is empty"))
		case p.Name == "":
			errs = append(errs, errors.New("a maintainer has no name"))
		case p.Email != "" && !emailForm.MatchString(p.Email):
			errs = append(errs, fmt.Errorf("maintainer %s: %q is not an email address", p.Name, p.Email))
		case p.URL != "" && !looseURL(p.URL):
			errs = append(errs, fmt.Errorf("maintainer %s: %q is not a URL", p.Name, p.URL))
		}
	}
	return errors.Join(errs...)
}

func chartSources(sources []string) error {
	var errs []error
	for _, s := range sources {
		if !fullURL(s) {
			errs = append(errs, fmt.Errorf("source %q is not a URL", s))
		}
	}
	return errors.Join(errs...)
}

func chartIcon(icon string) error {
	if icon != "" && !fullURL(icon) {
		return fmt.Errorf("icon %q is not a URL", icon)
	}
	return nil
}

func present(key, value string) error {
	if value == "" {
		return fmt.Errorf("%s is recommended", key)
	}
	return nil
}

func onlyV2(key string, given bool) error {
	if given {
		return fmt.Errorf("%s needs apiVersion v2", key)
	}
	return nil
}

// fullURL reports whether text is a URL with a scheme, and a path or host after it.
func fullURL(text string) bool {
	u, err := url.ParseRequestURI(text)
	return err == nil && u.Scheme != ""
}

// looseURL accepts example.com/x as well.
func looseURL(text string) bool {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && !strings.ContainsAny(text, " \t\n")
}

// kubeVersion checks that a constraint can be parsed and, where the Kubernetes version
// is known, that it holds.
func (r *run) kubeVersion(text string) error {
	if text == "" {
		return nil
	}
	constraint, err := semver.NewConstraint(text)
	if err != nil {
		return fmt.Errorf("kubeVersion %q is not a version constraint", text)
	}
	have, err := semver.NewVersion(r.Options.Capabilities.KubeVersion.String())
	if err == nil && r.Options.ExactVersion && !constraint.Check(have) {
		return fmt.Errorf("the chart needs Kubernetes %s, and this is %s", text, have)
	}
	return nil
}

// yamlMessage returns a YAML error without the prefixes of the library's conversion to JSON.
func yamlMessage(err error) string {
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	return strings.TrimPrefix(text, "error unmarshaling JSON: while decoding JSON: ")
}
