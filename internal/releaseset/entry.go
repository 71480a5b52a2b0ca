// Package releaseset reads files that declare many releases into one model: a Set of
// Entries with needs between them, whatever the files' format. It selects entries,
// orders them by their needs, and says which of them differ from those of another tree.
//
// It is pure: it is given a tree of files and the environment variables that may be
// seen, and contacts no cluster, fetches nothing and plans nothing (package setrun
// does). Readers of other formats are packages of their own that return a Set: helmfile
// below this one, internal/flux beside it.
package releaseset

import (
	"cmp"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Key identifies an entry: no two entries of a set have the same one.
type Key struct {
	// Cluster is a name in Set.Clusters, or "" for the cluster that the connection
	// flags name.
	Cluster   string
	Namespace string
	Name      string
}

// String returns "cluster/namespace/name", or "namespace/name" where no cluster is named.
func (k Key) String() string {
	if k.Cluster == "" {
		return k.Namespace + "/" + k.Name
	}
	return k.Cluster + "/" + k.Namespace + "/" + k.Name
}

// MarshalText writes the key as String does.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (k *Key) UnmarshalText(text []byte) error {
	read := parseKey(string(text))
	if read.Namespace == "" {
		return fmt.Errorf("%q is not a release key: expected [cluster/]namespace/name", text)
	}
	*k = read
	return nil
}

// parseKey splits [[cluster/]namespace/]name from the right: the name of a cluster may
// contain slashes, as those of EKS do (arn:aws:eks:eu-west-1:1:cluster/prod).
func parseKey(text string) Key {
	rest, name := cutLast(text)
	cluster, namespace := cutLast(rest)
	return Key{Cluster: cluster, Namespace: namespace, Name: name}
}

// cutLast splits a text at its last slash; without one, all of it is last.
func cutLast(text string) (before, last string) {
	i := strings.LastIndexByte(text, '/')
	return text[:max(i, 0)], text[i+1:]
}

// Release returns the key within its cluster.
func (k Key) Release() release.Key { return release.Key{Namespace: k.Namespace, Name: k.Name} }

// Place is where something is declared. File is a slash-separated path from the tree's
// root; Line counts from 1, and 0 means the whole file.
type Place struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// String returns "shop/releases.yaml:12".
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Entry is one release of a set. All paths are slash-separated and begin at the
// tree's root.
type Entry struct {
	Key
	Chart Chart
	// Values are in the order in which they are merged: the last one wins.
	Values []Value
	// Settings are applied after all Values.
	Settings Settings
	Labels   map[string]string
	// Needs are entries of the same set that have to exist before this one.
	Needs []Key
	// Uninstalled says that the release is not to exist.
	Uninstalled bool
	Options     Options
	// From is where the entry is declared.
	From Place
	// Manager is the object of a controller that deploys the entry; nil when there is
	// none.
	Manager Manager
}

// Chart says which chart an entry deploys: Path, or Name and the fields that help to find it.
type Chart struct {
	// Path is a folder or an archive in the tree.
	Path string `json:"path,omitempty"`
	// Name is a reference as on the command line: repository/name, oci://…, a URL; or,
	// with Repo, the chart's name there.
	Name string `json:"name,omitempty"`
	// Repo is the URL of a repository, as --repo takes it.
	Repo string `json:"repo,omitempty"`
	// Version is a version or a range of versions; "" is the newest.
	Version string `json:"version,omitempty"`
	// Tags is an expression that a registry's tags have to match for Version to choose among
	// them, as in Flux (see resolve.Request); "" means all tags, as in Helm.
	Tags string `json:"-"`
	// PlusTags, with Tags, says that _ in a tag stands for the + of a version.
	PlusTags bool `json:"-"`
	// AnyBuild, with Repo, has Version chosen as Flux does (see resolve.Request).
	AnyBuild bool `json:"-"`
	// Source is the part of the tree that Path is in, where that does not have all of the tree's files.
	Source Source `json:"-"`
}

// Source is a part of a tree.
type Source interface {
	// Omits reports whether a file, given by its path from the tree's root, is not part
	// of it. For folders it is false.
	Omits(name string, mode fs.FileMode) bool
}

// Public returns the chart as anybody may see it: its URLs have no user and password.
func (c Chart) Public() Chart {
	c.Name, c.Repo = resolve.Public(c.Name), resolve.Public(c.Repo)
	return c
}

// String names the chart as its file does, but without a password.
func (c Chart) String() string {
	text := cmp.Or(c.Path, c.Public().Name)
	if c.Version != "" {
		text += " " + c.Version
	}
	return text
}

// Value is one layer of values: a file in the tree, or a table in the set's file.
type Value struct {
	File string
	// Inline is the table where File is "": YAML, as in a values file.
	Inline []byte
	// Optional says that a missing file counts as empty.
	Optional bool
	// Encrypted says that the file's values are encrypted with SOPS. They can be
	// compared, but not read.
	Encrypted bool
	// From is where an inline table begins, or where the file is named.
	From Place
}

// Settings are the arguments of --set and its kin, in the order in which they are
// applied. The FILE of File's KEY=FILE begins at the tree's root.
type Settings struct {
	JSON, Set, String, File, Literal []string
}

// Options are how an entry is deployed: the flags of install and upgrade with the same
// names. Zero values are the flags' defaults.
type Options struct {
	Atomic          bool          `yaml:"atomic,omitempty" json:"atomic,omitempty"`
	Wait            bool          `yaml:"wait,omitempty" json:"wait,omitempty"`
	WaitForJobs     bool          `yaml:"waitForJobs,omitempty" json:"waitForJobs,omitempty"`
	Timeout         time.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	HistoryMax      *int          `yaml:"historyMax,omitempty" json:"historyMax,omitempty"`
	CreateNamespace bool          `yaml:"createNamespace,omitempty" json:"createNamespace,omitempty"`
	CleanupOnFail   bool          `yaml:"cleanupOnFail,omitempty" json:"cleanupOnFail,omitempty"`
	SkipCRDs        bool          `yaml:"skipCRDs,omitempty" json:"skipCRDs,omitempty"`
	UpdateCRDs      bool          `yaml:"updateCRDs,omitempty" json:"updateCRDs,omitempty"`
	SkipSchema      bool          `yaml:"skipSchemaValidation,omitempty" json:"skipSchemaValidation,omitempty"`
	NoHooks         bool          `yaml:"noHooks,omitempty" json:"noHooks,omitempty"`
	TakeOwnership   bool          `yaml:"takeOwnership,omitempty" json:"takeOwnership,omitempty"`
	Force           bool          `yaml:"force,omitempty" json:"force,omitempty"`
	ForceConflicts  bool          `yaml:"forceConflicts,omitempty" json:"forceConflicts,omitempty"`
	// ServerSide is auto, true or false; "" is auto.
	ServerSide  string `yaml:"serverSide,omitempty" json:"serverSide,omitempty"`
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	// ReuseValues merges the values over those of the newest revision. No file can set it:
	// what is released would then depend on what was.
	ReuseValues bool `yaml:"-" json:"-"`
	// Replace, KeepHistory and Cascade are those of plan.Options, for entries with a manager.
	Replace     bool   `yaml:"-" json:"-"`
	KeepHistory bool   `yaml:"-" json:"-"`
	Cascade     string `yaml:"-" json:"-"`
}

// Of returns the options as a plan has them; defaults are those that no entry sets.
func (o Options) Of(defaults plan.Options) plan.Options {
	out := defaults
	out.Atomic, out.CleanupOnFail = o.Atomic, o.CleanupOnFail
	out.Wait, out.WaitForJobs = o.Wait || o.Atomic, o.WaitForJobs
	out.Force, out.ForceConflicts, out.TakeOwnership = o.Force, o.ForceConflicts, o.TakeOwnership
	out.NoHooks, out.SkipCRDs, out.UpdateCRDs, out.CreateNamespace = o.NoHooks, o.SkipCRDs, o.UpdateCRDs, o.CreateNamespace
	out.Description, out.Replace, out.KeepHistory, out.Cascade = o.Description, o.Replace, o.KeepHistory, o.Cascade
	if o.Timeout != 0 {
		out.Timeout = o.Timeout
	}
	if o.HistoryMax != nil {
		out.HistoryMax = *o.HistoryMax
	}
	return out
}

// Cluster is one of the clusters that a set's file names.
type Cluster struct {
	// Context is the kubeconfig context; "" is the current one.
	Context string `yaml:"context,omitempty" json:"context,omitempty"`
	// KubeVersion and APIVersions are what templates see when no cluster is asked.
	KubeVersion string   `yaml:"kubeVersion,omitempty" json:"kubeVersion,omitempty"`
	APIVersions []string `yaml:"apiVersions,omitempty" json:"apiVersions,omitempty"`
}

// Identity identifies the release that an entry stands for: clusters of one context are the same.
type Identity struct {
	context, cluster string // the cluster's name counts where it has no context
	release          release.Key
}

// Identity returns the release that an entry with this key stands for.
func (s *Set) Identity(k Key) Identity {
	if context := s.Clusters[k.Cluster].Context; context != "" {
		return Identity{context: context, release: k.Release()}
	}
	return Identity{cluster: k.Cluster, release: k.Release()}
}

// Set is what files declare.
type Set struct {
	// Entries are in the order of the files.
	Entries []Entry
	// Clusters are those that keys name.
	Clusters map[string]Cluster
	// Appliers are keyed by their names, "Kustomization flux-system/apps"; that of the folder where Flux
	// begins is "".
	Appliers map[string]Applier
	// Warnings are about fields that were read but mean nothing here.
	Warnings []string
	// Unread are the files and objects that should declare entries but can't be read,
	// with the reason: nobody knows what the entries would be.
	Unread []string
	// Absent is what the tree lacks.
	Absent []Absent
	// Unplanned are the objects of controllers that are declared but are no entries, by their names as managers,
	// with the reason: what they had deployed is not removed with them.
	Unplanned map[string]Unplanned
}

// Unplanned is why an object of a controller is no entry.
type Unplanned struct {
	Err error
	// Missing reports whether the tree lacks what the object deploys: nothing happens to what it had deployed.
	Missing bool
}

// Absent is something that the tree lacks although it is to be applied: a folder of a version of the
// repository that may be another one, such as a tenant's branch, or something remote.
type Absent struct {
	// Applier is the name of what applies it, as in Set.Appliers.
	Applier, Name string
	// Warning says what is not planned because of it, Error the same if the change is why it is absent.
	Warning, Error string
}
