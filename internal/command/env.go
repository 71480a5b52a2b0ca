package command

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

func (p *program) envCommand() *cli.Command {
	return &cli.Command{
		Name: "env", Usage: "print the settings from the environment and flags", ArgsUsage: "[NAME]",
		Description: describe("Prints Helm's variables with the values in effect here, and our own; with a NAME, only its\nvalue. A bearer token is printed only if it is named.", "kubectl release env\nkubectl release env HELM_REPOSITORY_CACHE"),
		Flags:       p.paths.flags(),
		Action:      p.readOnly(takes(0, 1, p.env)),
	}
}

func (p *program) env(_ context.Context, args []string) error {
	all := p.settings()
	if len(args) == 1 {
		value, known := all[args[0]]
		if !known { // Helm prints no error, and scripts may rely on exit code 0
			p.warn(fmt.Sprintf("there is no setting %s", args[0]))
		}
		fmt.Fprintln(p.streams.Out, value)
		return nil
	}
	if all[tokenVariable] != "" {
		all[tokenVariable] = "(masked)"
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(p.streams.Out, "%s=\"%s\"\n", name, all[name])
	}
	return nil
}

// settings returns the variables of helm env (Helm 4.3.1, pkg/cmd/env.go), those that Helm reads
// but does not list there, and our own.
func (p *program) settings() map[string]string {
	o := &p.connection
	paths := p.paths.find()
	return map[string]string{
		"HELM_BIN":           cmp.Or(os.Getenv("HELM_BIN"), os.Args[0]),
		"HELM_CACHE_HOME":    paths.Cache,
		"HELM_CONFIG_HOME":   paths.Config,
		"HELM_DATA_HOME":     paths.Data,
		"HELM_CONTENT_CACHE": paths.ContentCache, "HELM_PLUGINS": paths.Plugins,
		"HELM_REGISTRY_CONFIG": paths.RegistryConfig, "HELM_REPOSITORY_CACHE": paths.RepositoryCache, "HELM_REPOSITORY_CONFIG": paths.RepositoryConfig,
		"HELM_NAMESPACE":     p.namespace(),
		"HELM_KUBEAPISERVER": o.server, "HELM_KUBECONTEXT": o.context, "HELM_KUBECAFILE": o.authority,
		"HELM_KUBEASUSER": o.as, "HELM_KUBEASGROUPS": strings.Join(o.impersonated(), ","), tokenVariable: o.token,
		"HELM_KUBEINSECURE_SKIP_TLS_VERIFY": strconv.FormatBool(o.insecure), "HELM_KUBETLS_SERVER_NAME": o.serverName,
		"HELM_DEBUG": strconv.FormatBool(o.debug), "HELM_QPS": strconv.FormatFloat(o.qps, 'f', 2, 64),
		"HELM_BURST_LIMIT": strconv.Itoa(cmp.Or(o.burst, number("HELM_BURST_LIMIT", 100))), "HELM_MAX_HISTORY": strconv.Itoa(number("HELM_MAX_HISTORY", 10)),
		"HELM_DRIVER":             cmp.Or(os.Getenv("HELM_DRIVER"), "secret"),
		"KUBECTL_RELEASE_SOURCES": paths.Settings,
	}
}

// number returns the integer in an environment variable, or a default.
func number(variable string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return otherwise
}

// readable returns the variable from which a flag takes its default, or nothing if the variable's
// value can't be parsed: Helm takes its own default then (Helm 4.3.1, pkg/cli/environment.go,
// envBoolOr, envIntOr and envFloat32Or).
func readable[T any](variable string, parse func(string) (T, error)) []string {
	if value := os.Getenv(variable); value != "" {
		if _, err := parse(value); err != nil {
			return nil
		}
	}
	return []string{variable}
}

func parseFloat(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
