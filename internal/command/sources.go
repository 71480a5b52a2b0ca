package command

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// sources returns access to charts, configured by the flags and the environment.
func (p *program) sources(o *fetchFlags) (*source.Sources, error) {
	s, err := p.repositories()
	if err != nil {
		return nil, err
	}
	s.Offline, s.AllowMismatch, s.Access = o.offline, o.allowMismatch, o.access.Access
	return s, o.verify.demand(&s.Verification)
}

// repositories returns access to the repositories that are known on this machine.
func (p *program) repositories() (*source.Sources, error) {
	paths := p.paths.find()
	settings, err := paths.ReadSettings()
	return &source.Sources{
		Paths: paths, Settings: settings, UserAgent: "kubectl-release/" + version(), Verification: source.Verification{Now: time.Now},
		Environment: p.pluginEnvironment, PluginErrors: p.streams.Err,
		Waiting:     p.waiting,
		TellUnknown: func(names []string) { p.unknownPlugins.Do(func() { p.warn(unknownPlugins(paths, names)) }) },
	}, err
}

// unknownPlugins returns a warning about names in sources.yaml for which no plugin is installed.
func unknownPlugins(paths source.Paths, names []string) string {
	return fmt.Sprintf("%s allows plugins that are not installed in %s: %s", paths.Settings, paths.Plugins, strings.Join(names, ", "))
}

// registry returns access to a registry, for commands that fetch no charts.
func (p *program) registry(access *accessFlags) (*source.Sources, error) {
	s, err := p.repositories()
	if err != nil {
		return nil, err
	}
	s.Access = access.Access
	return s, nil
}

// pathFlags say where the repositories and the cache are; they are Helm's.
type pathFlags struct {
	repositoryConfig, repositoryCache, registryConfig, contentCache optional[string]
}

func (o *pathFlags) flags() []cli.Flag {
	path := func(name string, to *optional[string], usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Destination: &to.value, Action: to.note, Usage: usage, Category: chartCategory}
	}
	return []cli.Flag{
		path("repository-config", &o.repositoryConfig, "`FILE` of the repositories (HELM_REPOSITORY_CONFIG)"),
		path("repository-cache", &o.repositoryCache, "`FOLDER` of their indexes (HELM_REPOSITORY_CACHE)"),
		path("registry-config", &o.registryConfig, "`FILE` of the credentials for registries (HELM_REGISTRY_CONFIG)"),
		path("content-cache", &o.contentCache, "`FOLDER` of the charts that were fetched (HELM_CONTENT_CACHE)"),
	}
}

// find returns the files and folders that the flags and the environment name.
func (o *pathFlags) find() source.Paths {
	home, _ := os.UserHomeDir() // without a home directory, files in it are not found
	paths := source.FindPaths(os.LookupEnv, runtime.GOOS, home)
	for flag, path := range map[*optional[string]]*string{
		&o.repositoryConfig: &paths.RepositoryConfig, &o.repositoryCache: &paths.RepositoryCache,
		&o.contentCache: &paths.ContentCache, &o.registryConfig: &paths.RegistryConfig,
	} {
		if flag.given {
			*path = flag.value
		}
	}
	return paths
}

// pluginEnvironment returns the environment of getter plugins: our own and Helm's settings, without
// variables that give access to clusters.
func (p *program) pluginEnvironment() []string {
	out := os.Environ()
	for name, value := range p.settings() {
		out = append(out, name+"="+value)
	}
	return withoutSecrets(out)
}

// withoutSecrets removes from an environment the variables that give access to clusters and
// databases.
func withoutSecrets(environment []string) []string {
	return slices.DeleteFunc(environment, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == releasestore.SQLConnection || name == "PGPASSWORD" || name == tokenVariable
	})
}

// fetchInput fetches a values file, or a hub's answer, from its URL. It does not send the
// credentials of the flags, which are for the chart's server.
func (p *program) fetchInput(ctx context.Context, url string, offline bool) ([]byte, error) {
	s, err := p.repositories()
	if err != nil {
		return nil, err
	}
	s.Offline = offline
	return s.File(ctx, url, inputfile.MaxBytes)
}
