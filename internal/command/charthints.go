package command

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/signature"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

// hintSource says what to do if a chart could not be fetched, or returns "" if that is not the
// error.
func (p *program) hintSource(err error) string {
	var noRepository *source.NoRepositoryError
	var status *source.StatusError
	var refused *source.RefusedError
	var taken *source.TagTakenError
	var realm *source.RealmError
	var noAlias *resolve.NoAliasError
	switch {
	case isA[*signature.OtherContentError](err):
		return "what was fetched is not what was signed: ask whoever publishes the chart, and do not use it"
	case isA[*source.UnverifiedError](err):
		return "name the keys you trust with --keyring or --verify-key, or an identity with --certificate-identity, or add a rule to sources.yaml"
	case isA[*values.MissingError](err):
		return p.hintMissing()
	case isA[*values.OutsideSchemaError](err):
		return "--skip-schema-validation does not check values against any values.schema.json"
	case isA[*resolve.OutOfSyncError](err):
		return p.clusterless("dependency", "update", p.chartArgument()) + " writes a new lock"
	case errors.As(err, &noAlias):
		return p.clusterless("repo", "add", noAlias.Alias) + " URL adds it"
	case isA[*resolve.SchemeError](err):
		if s, err := p.repositories(); err == nil {
			if unknown, _ := s.UnknownPlugins(); len(unknown) > 0 {
				return unknownPlugins(s.Paths, unknown)
			}
		}
		return "a getter plugin for them is only run if sources.yaml names it: plugins: [NAME]"
	case isA[*resolve.ExistsError](err):
		return "use --force-update to replace it"
	case isA[*source.NoIndexError](err):
		return p.clusterless("repo", "update") + " fetches it"
	case errors.As(err, &noRepository):
		return p.hintNoRepository(noRepository.Name)
	case isA[*resolve.NoChartError](err) && !p.readIndexAnew():
		return p.clusterless("repo", "update") + " fetches what is new"
	case errors.As(err, &status) && (status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden):
		return "give --username and --password, or add the repository with them"
	case errors.As(err, &refused) && (refused.Code == http.StatusUnauthorized || refused.Code == http.StatusForbidden):
		return p.hintLogin()
	case errors.As(err, &taken) && taken.SameArchive:
		return "use --force to overwrite it"
	case errors.As(err, &taken):
		return "raise the version, or use --force to overwrite it"
	case errors.As(err, &realm):
		return fmt.Sprintf("if %s belongs to the registry, allow it in sources.yaml: realms: {%q: [%q]}", realm.Origin, realm.Registry, realm.Origin)
	case isA[*source.UnreachedError](err) && untrusted(err):
		return hintCertificate(err, "the certificate of the chart's server is not trusted: is it the right server? If so, pass its CA: --ca-file FILE, which registry login and repo add remember",
			"It has a certificate for other names")
	case isA[*source.UnreachedError](err) && uncertified(err):
		return "the chart's server wants a client certificate: --cert-file FILE and --key-file FILE, which registry login and repo add remember"
	case isA[*source.UnreachedError](err):
		return p.hintUnreached()
	case isA[*source.DigestError](err):
		return "the chart was changed without a new version, or in transit; nothing was written"
	}
	return ""
}

// chartArgument returns the chart that the user typed: the last argument, or the current folder if
// there is none.
func (p *program) chartArgument() string {
	if n := len(p.commandLine.Arguments); n > 0 {
		return p.commandLine.Arguments[n-1]
	}
	return "."
}

// hintMissing says how to get missing dependencies into charts/, which only works if the chart is
// a folder.
func (p *program) hintMissing() string {
	folder := p.chartArgument()
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "package the chart again, with --dependency-update"
	}
	return "fetch them: " + p.clusterless("dependency", "build", folder)
}

// readIndexAnew reports whether this command itself has just fetched the index that lacks a chart.
// If so, repo update would only fetch the same index again.
func (p *program) readIndexAnew() bool {
	return p.commandLine.Path[0] == "dependency" || p.hasFlag("repo")
}

// hasFlag reports whether a flag was given by this name.
func (p *program) hasFlag(flag string) bool {
	return slices.ContainsFunc(p.commandLine.Flags, func(f argv.Flag) bool { return f.Name == flag })
}

// hintLogin says what to do if a registry refuses the credentials.
func (p *program) hintLogin() string {
	if p.commandLine.Path[0] == "registry" {
		return "check the user name and the password; nothing was changed"
	}
	host := "HOST"
	for _, typed := range p.commandLine.Arguments {
		if image, _, err := resolve.ParseImage(typed); err == nil {
			host = image.Host
		}
	}
	return p.clusterless("registry", "login", host) + ", or --username and --password"
}

// hintNoRepository says how to get a repository that is not configured. The commands on repositories take
// no charts.
func (p *program) hintNoRepository(name string) string {
	list := p.clusterless("repo", "list") + " lists the configured ones"
	if p.commandLine.Path[0] == "repo" {
		return list
	}
	return p.clusterless("repo", "add", name) + " URL adds it; " + list + "; write a folder as ./" + name + "/…"
}

// hintUnreached says what to do if a server can't be reached. Only some commands can do without.
func (p *program) hintUnreached() string {
	if p.commandLine.Known["offline"] == nil {
		return "check the address and HTTPS_PROXY"
	}
	return "check the address and HTTPS_PROXY; --offline uses what was fetched before"
}
