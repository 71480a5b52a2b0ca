package source

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"
)

// Paths holds files and folders, most of them shared with Helm 4.3.1.
type Paths struct {
	Cache, Config, Data string
	// RepositoryConfig is repositories.yaml, RepositoryCache the folder of indexes,
	// ContentCache that of charts by their digest, RegistryConfig the credentials of
	// registries, in Docker's format.
	RepositoryConfig, RepositoryCache, ContentCache, RegistryConfig string
	Plugins                                                         string
	// OtherCredentials holds the credential files of Docker and Podman.
	OtherCredentials []string
	// Netrc has the logins of HTTP repositories that have none elsewhere.
	Netrc string
	// Settings is our own sources.yaml: mirrors, and what else Helm has no file for.
	Settings string
	// GnuPG is the folder in which GnuPG keeps its keys.
	GnuPG string
}

// FindPaths returns the paths according to the environment, with Helm's precedence:
// HELM_*_HOME, XDG_*, the system's default. A HELM_* variable for a single path counts even if
// it is empty. lookup is os.LookupEnv, goos runtime.GOOS, home the home folder. Without one, paths
// that would be in it are empty.
func FindPaths(lookup func(string) (string, bool), goos, home string) Paths {
	get := func(name string) string { value, _ := lookup(name); return value }
	base := func(helm, xdg, otherwise string) string {
		if dir := get(helm); dir != "" {
			return dir
		}
		if dir := get(xdg); dir != "" {
			return filepath.Join(dir, "helm")
		}
		return below(otherwise, "helm")
	}
	cache, config, data := below(home, ".cache"), below(home, ".config"), below(home, ".local", "share")
	switch goos {
	case "darwin":
		library := below(home, "Library")
		cache, config, data = below(library, "Caches"), below(library, "Preferences"), library
	case "windows":
		cache, config, data = get("TEMP"), get("APPDATA"), get("APPDATA")
	}
	p := Paths{
		Cache:  base("HELM_CACHE_HOME", "XDG_CACHE_HOME", cache),
		Config: base("HELM_CONFIG_HOME", "XDG_CONFIG_HOME", config),
		Data:   base("HELM_DATA_HOME", "XDG_DATA_HOME", data),
	}
	own := func(name, otherwise string) string {
		if path, set := lookup(name); set {
			return path
		}
		return otherwise
	}
	p.RepositoryConfig = own("HELM_REPOSITORY_CONFIG", below(p.Config, "repositories.yaml"))
	p.RepositoryCache = own("HELM_REPOSITORY_CACHE", below(p.Cache, "repository"))
	p.ContentCache = own("HELM_CONTENT_CACHE", below(p.Cache, "content"))
	p.RegistryConfig = own("HELM_REGISTRY_CONFIG", below(p.Config, "registry", "config.json"))
	docker := below(home, ".docker")
	if dir := get("DOCKER_CONFIG"); dir != "" {
		docker = dir
	}
	p.OtherCredentials = []string{below(docker, "config.json")}
	if file := get("REGISTRY_AUTH_FILE"); file != "" {
		p.OtherCredentials = append(p.OtherCredentials, file)
	} else if dir := get("XDG_RUNTIME_DIR"); dir != "" {
		p.OtherCredentials = append(p.OtherCredentials, below(dir, "containers", "auth.json"))
	}
	netrc := ".netrc"
	if goos == "windows" {
		netrc = "_netrc"
	}
	p.Netrc = own("NETRC", below(home, netrc))
	p.Plugins = own("HELM_PLUGINS", below(p.Data, "plugins"))
	p.Settings = own("KUBECTL_RELEASE_SOURCES", below(p.Config, "kubectl-release", "sources.yaml"))
	p.GnuPG = cmp.Or(get("GNUPGHOME"), below(home, ".gnupg"))
	return p
}

// below returns a path in a folder. In a folder that is not known nothing has a path: the working
// directory, which may be somebody else's checkout, does not take its place.
func below(folder string, names ...string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(append([]string{folder}, names...)...)
}

// errNoFolder is the error of what has to be written to a path that is not known.
var errNoFolder = errors.New("there is no folder for it: set HOME, or HELM_CACHE_HOME, HELM_CONFIG_HOME and HELM_DATA_HOME")

// hosts returns the path of hosts.yaml, next to the credentials of registries; "" if there is no
// file for credentials.
func (p Paths) hosts() string {
	if p.RegistryConfig == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(p.RegistryConfig), "hosts.yaml")
}

// repositoriesLock returns the file with which Helm locks repositories.yaml; "" if there is none.
func (p Paths) repositoriesLock() string {
	if p.RepositoryConfig == "" {
		return ""
	}
	if ext := filepath.Ext(p.RepositoryConfig); ext != "" && len(ext) < len(p.RepositoryConfig) {
		return strings.TrimSuffix(p.RepositoryConfig, ext) + ".lock"
	}
	return p.RepositoryConfig + ".lock"
}

// index and charts return the files of a repository's cached index: the index itself, and the
// names of its charts, one per line.
func (p Paths) index(name string) string { return below(p.RepositoryCache, name+"-index.yaml") }

func (p Paths) charts(name string) string {
	return below(p.RepositoryCache, name+"-charts.txt")
}

// answer returns the file with the validators that the server sent with an index.
func (p Paths) answer(name string) string {
	return below(p.RepositoryCache, name+"-index.http.json")
}
