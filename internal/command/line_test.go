package command

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// People write flags anywhere on the line; the parser behind it wants them before the
// arguments, each with its value.
func TestOrder(t *testing.T) {
	for name, c := range map[string]struct{ line, want, err string }{
		"flags behind arguments":                 {"plan web ./chart -n shop --full", "plan --namespace=shop --full -- web ./chart", ""},
		"flags before the command":               {"--atomic --set a=b upgrade web ./chart", "upgrade --atomic --set=a=b -- web ./chart", ""},
		"glued to a letter":                      {"list -nshop -ojson", "list --namespace=shop --output=json", ""},
		"switches in a bunch":                    {"list -Aq", "list --all-namespaces --short", ""},
		"an optional value is not taken":         {"upgrade --wait web ./chart", "upgrade --wait=true -- web ./chart", ""},
		"but --server-side has Helm's":           {"upgrade --server-side false web ./chart", "upgrade --server-side=false -- web ./chart", ""},
		"an optional value by =":                 {"upgrade --wait=false web ./chart", "upgrade --wait=false -- web ./chart", ""},
		"two commands, one below the other":      {"get values web", "get values -- web", ""},
		"a release that is called a command":     {"status list", "status -- list", ""},
		"a value that looks like a flag":         {"install web . --set-string -x=1", "install --set-string=-x=1 -- web .", ""},
		"one flag by both of its names":          {"plan web . -f a --values b", "plan --values=a --values=b -- web .", ""},
		"a letter means what the command's does": {"-s a template .", "template --show-only=a -- .", ""},
		"nothing is a command behind --":         {"plan --full -- many web", "plan --full -- many web", ""},
		"nothing is a flag behind --":            {"install web -- --odd", "install -- web --odd", ""},
		"--version is version":                   {"--version -o json", "version --output=json", ""},
		"with its own flags":                     {"--version --short", "version --short", ""},
		"or the command's that follows":          {"--version 1.2.0 install web .", "install --version=1.2.0 -- web .", ""},
		"but of a command it is a flag of its":   {"list --version", "", "unknown flag --version"},
		"- is an argument, and a value":          {"plan web . -f -", "plan --values=- -- web .", ""},
		"a flag that nobody knows":               {"plan web . --atomc", "", "unknown flag --atomc: did you mean --atomic?"},
		"another command's flag":                 {"list --atomic", "", "unknown flag --atomic"},
		"a value is missing":                     {"plan web . --set", "", "flag --set needs a value"},
		"a letter's value is missing":            {"list -n", "", "flag -n needs a value"},
		"-v is not the version":                  {"-v", "", "flag -v needs a value: it is the log level, as in -v 6; the command version prints the version"},
		"a flag of the command above":            {"plan show x --set=a", "", "unknown flag --set: it belongs to plan, and this is plan show"},
		"its letter":                             {"plan show x -f a", "", "unknown flag -f: it belongs to plan, and this is plan show"},
		"or before the subcommand":               {"plan --set a=b show x", "", "unknown flag --set: it belongs to plan, and this is plan show"},
		"a flag of both":                         {"plan -o json show x", "plan show --output=json -- x", ""},
		"one of the subcommand before it":        {"get --revision 3 values web", "get values --revision=3 -- web", ""},
		"its letter before it":                   {"get -o json values web", "get values --output=json -- web", ""},
		"before both commands":                   {"-o json repo list", "repo list --output=json", ""},
		"between them":                           {"plan --base-dir /dev/null many x.yaml", "plan many --base-dir=/dev/null -- x.yaml", ""},
		"but not without it":                     {"plan --base-dir /dev/null web many", "", "unknown flag --base-dir"},
		"a set is always untrusted":              {"plan many x --untrusted", "", "unknown flag --untrusted: plan many has none of the flags that it refuses"},
		"help for a command":                     {"help plan many", "plan many --help", ""},
		"help alone":                             {"help", "--help", ""},
		"help for what is none":                  {"help foo", "", `unknown command "foo": see kubectl release --help`},
		"or for what is nearly one":              {"help instal", "", `unknown command "instal": did you mean "install"?`},
		"Helm 3's flags of status":               {"status web --show-desc --show-resources", "status --show-desc --show-resources -- web", ""},
		"of rollback":                            {"rollback web --recreate-pods", "rollback --recreate-pods -- web", ""},
		"of upgrade, which its help hides":       {"upgrade web . --recreate-pods", "upgrade --recreate-pods -- web .", ""},
		"of version, which its help hides":       {"version -c --short", "version --client --short", ""},
		"of repo add":                            {"repo add a http://a --no-update", "repo add --no-update -- a http://a", ""},
		"and of repo update":                     {"repo update --fail-on-repo-update-fail", "repo update --fail-on-repo-update-fail", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, "kubectl release")
			got, err := lineRules.Parse(p.appFor(strings.Fields(c.line)), strings.Fields(c.line))
			message := ""
			if err != nil {
				message = err.Error()
			}
			if !strings.HasPrefix(message, c.err) || (c.err == "") != (err == nil) {
				t.Fatalf("error %q, want %q", message, c.err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(c.want, strings.Join(got.Words(), " ")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
