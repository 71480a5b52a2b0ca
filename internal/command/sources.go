package command

import (
	"os"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/source"
)

// sources is the way to charts that flags and the environment describe.
func sources(c *cli.Context) (*source.Sources, error) {
	s, err := repositories(c)
	if err != nil {
		return nil, err
	}
	s.Offline, s.AllowMismatch = c.Bool("offline"), c.Bool("allow-digest-mismatch")
	s.Access = tlsAccess(c)
	s.Access.Username, s.Access.Password, s.Access.PassAll = c.String("username"), c.String("password"), c.Bool("pass-credentials")
	s.Access.Insecure, s.Access.PlainHTTP = c.Bool("insecure-skip-tls-verify"), c.Bool("plain-http")
	return s, demandSignatures(c, &s.Verification)
}

func tlsAccess(c *cli.Context) source.Access {
	return source.Access{CertFile: c.String("cert-file"), KeyFile: c.String("key-file"), CAFile: c.String("ca-file")}
}

// repositories are those that are known on this machine.
func repositories(c *cli.Context) (*source.Sources, error) {
	paths := sourcePaths(c)
	settings, err := paths.ReadSettings()
	return &source.Sources{
		Paths: paths, Settings: settings, UserAgent: "kubectl-release/" + Version, Verification: source.Verification{Now: time.Now()},
		Environment: func() []string { return pluginEnvironment(c) }, PluginErrors: c.App.ErrWriter,
	}, err
}

// sourcePaths are the files and folders that flags and the environment name.
func sourcePaths(c *cli.Context) source.Paths {
	home, _ := os.UserHomeDir() // nothing is found there then
	paths := source.FindPaths(os.LookupEnv, runtime.GOOS, home)
	for flag, path := range map[string]*string{
		"repository-config": &paths.RepositoryConfig, "repository-cache": &paths.RepositoryCache, "content-cache": &paths.ContentCache,
		"registry-config": &paths.RegistryConfig,
	} {
		if c.IsSet(flag) {
			*path = c.String(flag)
		}
	}
	return paths
}

// pluginEnvironment is what getter plugins are told: our environment, and Helm's
// settings, without what lets us reach clusters.
func pluginEnvironment(c *cli.Context) []string {
	out := os.Environ()
	for name, value := range settings(c) {
		out = append(out, name+"="+value)
	}
	return withoutSecrets(out)
}

// fetchInput fetches a file of values, or the answer of a hub, by its URL. It gets none of the
// credentials that flags give for the chart's server.
func fetchInput(c *cli.Context, url string, offline bool) ([]byte, error) {
	s, err := repositories(c)
	if err != nil {
		return nil, err
	}
	s.Offline = offline
	return s.File(c.Context, url, maxInputBytes)
}
