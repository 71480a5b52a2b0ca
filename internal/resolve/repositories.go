package resolve

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Repository is an entry of repositories.yaml, with Helm's keys.
type Repository struct {
	CAFile                string `json:"caFile"`
	CertFile              string `json:"certFile"`
	InsecureSkipTLSVerify bool   `json:"insecure_skip_tls_verify"`
	KeyFile               string `json:"keyFile"`
	Name                  string `json:"name"`
	PassCredentialsAll    bool   `json:"pass_credentials_all"`
	Password              string `json:"password"`
	URL                   string `json:"url"`
	Username              string `json:"username"`
}

// Repositories is repositories.yaml. Changes preserve unknown keys.
type Repositories struct {
	document map[string]any
	entries  []Repository
}

// ParseRepositories parses repositories.yaml; an empty file has no entries.
func ParseRepositories(data []byte) (*Repositories, error) {
	r := &Repositories{document: map[string]any{"apiVersion": "", "generated": "0001-01-01T00:00:00Z"}}
	if err := yaml.Unmarshal(data, &r.document); err != nil {
		return nil, err
	}
	var typed struct {
		Repositories []*Repository `json:"repositories"`
	}
	if err := yaml.Unmarshal(data, &typed); err != nil {
		return nil, err
	}
	for _, e := range typed.Repositories {
		if e == nil {
			return nil, errors.New("repositories must not contain an empty entry")
		}
		r.entries = append(r.entries, *e)
	}
	return r, nil
}

// All returns the entries in the file's order.
func (r *Repositories) All() []Repository { return slices.Clone(r.entries) }

// Find returns the first repository with the given name.
func (r *Repositories) Find(name string) (Repository, bool) {
	i := r.index(name)
	if i < 0 {
		return Repository{}, false
	}
	return r.entries[i], true
}

// At returns the repository at a URL, ignoring trailing slashes.
func (r *Repositories) At(url string) (Repository, bool) {
	for _, e := range r.entries {
		if SameURL(e.URL, url) {
			return e, true
		}
	}
	return Repository{}, false
}

// SameURL reports whether two repository URLs are equal except for trailing slashes.
func SameURL(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

func (r *Repositories) index(name string) int {
	return slices.IndexFunc(r.entries, func(e Repository) bool { return e.Name == name })
}

// Set adds an entry, or replaces the one with the same name. Errors: the name is invalid.
func (r *Repositories) Set(e Repository) error {
	if err := ValidRepositoryName(e.Name); err != nil {
		return err
	}
	fields := map[string]any{}
	data, err := yaml.Marshal(e)
	if err == nil {
		err = yaml.Unmarshal(data, &fields)
	}
	if err != nil {
		return fmt.Errorf("repository %s: %w", e.Name, err)
	}
	list, _ := r.document["repositories"].([]any)
	if i := r.index(e.Name); i >= 0 {
		old, _ := list[i].(map[string]any)
		for key, value := range fields {
			old[key] = value
		}
		r.entries[i] = e
		return nil
	}
	r.document["repositories"] = append(list, fields)
	r.entries = append(r.entries, e)
	return nil
}

// Remove removes an entry and reports whether there was one.
func (r *Repositories) Remove(name string) bool {
	i := r.index(name)
	if i < 0 {
		return false
	}
	list, _ := r.document["repositories"].([]any)
	r.document["repositories"] = slices.Delete(list, i, i+1)
	r.entries = slices.Delete(r.entries, i, i+1)
	return true
}

// Bytes returns the file as Helm writes it: keys sorted, lists not indented.
func (r *Repositories) Bytes() ([]byte, error) {
	if r.document["repositories"] == nil {
		r.document["repositories"] = []any{}
	}
	return yaml.Marshal(r.document)
}

// ValidRepositoryName returns an error for a name that can't be used as a file name, or can't be
// told apart from the chart's name in REPO/NAME.
func ValidRepositoryName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of the repository is empty")
	case strings.ContainsAny(name, `/\`), name == ".", name == "..", strings.HasPrefix(name, "-"):
		return fmt.Errorf("%q is not a valid repository name: it must not contain slashes, be dots or begin with a dash", name)
	case strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f }), len(name) > 200:
		return fmt.Errorf("%q is not a valid repository name", name)
	}
	return nil
}

// Same reports whether an equal entry exists. Errors: *ExistsError if a different entry has the
// same name, unless replace is set.
func (r *Repositories) Same(e Repository, replace bool) (bool, error) {
	old, there := r.Find(e.Name)
	switch {
	case !there:
		return false, nil
	case old == e:
		return true, nil
	case !replace:
		return false, &ExistsError{Name: e.Name, URL: old.URL}
	}
	return false, nil
}

// ExistsError says that another repository has the name.
type ExistsError struct{ Name, URL string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("repository %s already exists, at %s or with other settings", e.Name, Public(e.URL))
}
