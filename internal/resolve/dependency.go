package resolve

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Declared returns the dependencies of a chart with URLs instead of @NAME and alias:NAME; Helm's
// lock digest is computed from these. If the repository of a name is not configured, the URL comes
// from the dependency's entry in lock, which may be nil. Errors: *NoAliasError.
func Declared(m *chart.Metadata, known *Repositories, lock *Lock) ([]*chart.Dependency, error) {
	out := make([]*chart.Dependency, len(m.Dependencies))
	var errs []error
	for i, d := range m.Dependencies {
		out[i] = new(*d)
		name, ok := aliasOf(d.Repository)
		if !ok {
			continue
		}
		r, found := known.Find(name)
		switch {
		case found:
			out[i].Repository = r.URL
		case lock == nil || i >= len(lock.Dependencies):
			errs = append(errs, &NoAliasError{Dependency: d.Name, Alias: name})
		default:
			out[i].Repository = lock.Dependencies[i].Repository
		}
	}
	return out, errors.Join(errs...)
}

// aliasOf returns the name of a configured repository in @NAME or alias:NAME.
func aliasOf(repository string) (string, bool) {
	if name, ok := strings.CutPrefix(repository, "@"); ok {
		return name, true
	}
	return strings.CutPrefix(repository, "alias:")
}

// NoAliasError says that a dependency names a repository that is not configured.
type NoAliasError struct{ Dependency, Alias string }

func (e *NoAliasError) Error() string {
	return fmt.Sprintf("dependency %s is in repository %q, which is not known here", e.Dependency, e.Alias)
}

// FileScheme is the prefix of a dependency on another folder.
const FileScheme = "file://"

// Dependency returns where a dependency comes from. Its version is a range, or with exact a single
// version. A repository URL refers to the configured repository with that URL, if there is one.
// folder is the chart's folder, which file:// paths are relative to; schemes lists the URL schemes
// besides http and https that can be fetched. Errors are sentences about the dependency; one wraps
// a *SchemeError.
func Dependency(d *chart.Dependency, known *Repositories, folder string, schemes []string, exact bool) (Reference, error) {
	version, err := dependencyVersion(d, exact)
	if err != nil {
		return Reference{}, err
	}
	ref := Reference{Name: d.Name, Version: version}
	path, local := strings.CutPrefix(d.Repository, FileScheme)
	switch {
	case d.Name == "." || d.Name == ".." || d.Name == "" || strings.ContainsAny(d.Name, "/\\\x00"):
		return Reference{}, fmt.Errorf("dependency %q: this is not a valid chart name", d.Name)
	case d.Repository == "":
		ref.Kind, ref.Path = Vendored, filepath.Join(folder, "charts", d.Name)
		return ref, nil
	case local:
		ref.Kind, ref.Path = Local, filepath.FromSlash(path)
		if !filepath.IsAbs(ref.Path) {
			ref.Path = filepath.Join(folder, ref.Path)
		}
		return ref, nil
	case IsRegistry(d.Repository):
		// A complete version, with or without a leading v, is looked up by its tag; for anything else
		// the tags are listed.
		ref.Version.Range = ref.Version.Range && !Wanted{Version: version.Version}.Exact()
		ref, err = ref.registry(strings.TrimSuffix(d.Repository, "/")+"/"+d.Name, "")
		ref.Name = d.Name
		return ref, err
	}
	u, err := url.Parse(d.Repository)
	if err == nil && u.Host != "" && u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" && !slices.Contains(schemes, u.Scheme) {
		return Reference{}, fmt.Errorf("dependency %s: %w", d.Name, &SchemeError{Scheme: u.Scheme, URL: Public(d.Repository)})
	}
	if err != nil || u.Host == "" || u.Scheme == "" {
		return Reference{}, fmt.Errorf("dependency %s: %q is not a repository: give a URL, %sHOST/PATH, %sFOLDER, or @NAME of a configured one", d.Name, d.Repository, Scheme, FileScheme)
	}
	ref.Kind, ref.URL = Unconfigured, d.Repository
	if r, ok := known.At(d.Repository); ok {
		ref.Kind, ref.Repository = Configured, r.Name
	}
	return ref, nil
}

// dependencyVersion returns the wanted version of a dependency.
func dependencyVersion(d *chart.Dependency, exact bool) (Wanted, error) {
	if !exact && d.Version != "latest" {
		if _, err := semver.NewConstraint(d.Version); err != nil {
			return Wanted{}, fmt.Errorf("dependency %s: %q is neither a version nor a range of versions: %w", d.Name, d.Version, err)
		}
	}
	if _, err := semver.NewVersion(d.Version); exact && err != nil && d.Repository != "" {
		return Wanted{}, fmt.Errorf("dependency %s: %q is not a version: %w", d.Name, d.Version, err)
	}
	return Wanted{Version: d.Version, Range: !exact}, nil
}

// Satisfies returns an error if a dependency's range does not include a chart's version.
func Satisfies(d *chart.Dependency, version string) error {
	if _, err := Choose([]string{version}, Wanted{Version: d.Version, Range: true}); err != nil {
		if _, none := errors.AsType[*NoVersionError](err); none {
			return fmt.Errorf("version %s does not satisfy %q", version, d.Version)
		}
		return err
	}
	return nil
}
