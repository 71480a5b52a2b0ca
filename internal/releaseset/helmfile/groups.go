package helmfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	yaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// group says what happens to fields: read, warned about with a reason or, if in
// neither, refused.
type group struct {
	read   []string
	warned map[string]string
	// below are the groups of fields that are a table or a list of tables.
	below map[string]group
}

var topFields = group{
	read: strings.Fields("bases environments values repositories helmDefaults commonLabels namespace kubeContext missingFileHandler helmfiles releases templates"),
	warned: map[string]string{
		"concurrency": "use --jobs and --parallel", "lockFilePath": "charts have the versions that are written here",
		"helmBinary": "Helm is not run", "kustomizeBinary": "Kustomize is not run", "llm": "it is for helmfile doctor",
		"apiVersions": "templates see the cluster's, or those of --api-versions", "kubeVersion": "templates see the cluster's, or that of --kube-version",
	},
	below: map[string]group{"helmDefaults": defaultFields, "repositories": repositoryFields},
}

// builtFields are those of what helmfile build prints: it adds some that it needs itself.
var builtFields = group{
	read:   append(strings.Fields("filepath helmBinary kustomizeBinary renderedvalues"), topFields.read...),
	warned: topFields.warned, below: topFields.below,
}

const login = "log in with repo add or registry login, or use --username and --password"

var repositoryFields = group{
	read: strings.Fields("name url oci"),
	warned: map[string]string{
		"username": login, "password": login, "registryConfig": login, "managed": login, "passCredentials": "use --pass-credentials",
		"caFile": "use --ca-file", "certFile": "use --cert-file", "keyFile": "use --key-file",
		"skipTLSVerify": "use --insecure-skip-tls-verify", "plainHttp": "use --plain-http",
		"verify": display["verify"], "keyring": display["keyring"],
	},
}

var settingFields = group{read: strings.Fields("name value values file")}

var environmentFields = group{read: strings.Fields("values kubeContext missingFileHandler"), warned: map[string]string{}}

var optionFields = strings.Fields("wait waitForJobs timeout atomic rollbackOnFailure cleanupOnFail historyMax createNamespace force takeOwnership serverSide forceConflicts skipSchemaValidation")

var display = map[string]string{
	"recreatePods": "Helm dropped it", "waitRetries": "Helm dropped it", "verify": "--verify says whether signatures are required", "devel": "a prerelease is selected by its version", "keyring": "use --keyring",
	"trackMode": "this program has its own way of waiting", "trackTimeout": "this program has its own way of waiting", "trackLogs": "this program has its own way of waiting",
	"suppressDiff": "plans say what changes", "suppressOutputLineRegex": "plans say what changes", "hideNotes": "plans have none",
	"disableValidation": "the API server validates", "disableValidationOnInstall": "the API server validates", "disableOpenAPIValidation": "the API server validates",
	"deleteWait": "an uninstall waits if wait is set", "deleteTimeout": "an uninstall waits if wait is set", "cascade": "objects are deleted in the background",
}

var (
	defaultFields = group{read: append(strings.Fields("kubeContext skipCRDs args diffArgs syncArgs"), optionFields...), warned: display}
	releaseFields = group{
		read:   append(strings.Fields("name namespace chart version values secrets set setString labels needs installed condition kubeContext description missingFileHandler"), optionFields...),
		warned: display, below: map[string]group{"set": settingFields, "setString": settingFields},
	}
)

// checked refuses a mapping with fields that are not read, and warns about those that
// mean nothing here. Errors name the field's line.
func checked(file string, mapping *yaml.Node, g group) (warnings []string, err error) {
	const below = 2 // its fields, and their items
	given := own(mapping, below).Content
	for i := 0; i+1 < len(given); i += 2 {
		key, value := given[i], given[i+1]
		reason, warned := g.warned[key.Value]
		switch {
		case slices.Contains(g.read, key.Value):
			more, err := g.checkedBelow(file, key.Value, value)
			if err != nil {
				return nil, err
			}
			warnings = append(warnings, more...)
		case empty(value):
		case warned:
			warnings = append(warnings, fmt.Sprintf("%s:%d: %s is ignored: %s", file, key.Line, key.Value, reason))
		default:
			return nil, refusal(file, key.Line, fmt.Errorf("%s is not supported", key.Value))
		}
	}
	return warnings, nil
}

// another returns an error for a file that is no helmfile: it has fields that only a releases.yaml has, or none that
// a helmfile has.
func another(file string, part *yaml.Node) error {
	has := func(fields ...string) bool {
		return slices.ContainsFunc(fields, func(field string) bool { return releaseset.KeyNode(part, field) != nil })
	}
	warned := slices.Collect(maps.Keys(topFields.warned))
	if len(part.Content) == 0 || !has("defaults", "clusters") && (has("hooks", "renderedvalues") || has(topFields.read...) || has(warned...)) {
		return nil
	}
	return &releaseset.FieldError{Place: releaseset.Place{File: file, Line: part.Line}, What: "this is no helmfile, and a releases.yaml begins with version: 1"}
}

// checkedBelow is checked for the table, or the list of tables, that a field has as its value.
func (g group) checkedBelow(file, field string, value *yaml.Node) (warnings []string, err error) {
	below, known := g.below[field]
	if !known {
		return nil, nil
	}
	tables := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		tables = value.Content
	}
	for _, table := range tables {
		more, err := checked(file, table, below)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, more...)
	}
	return warnings, nil
}

// empty reports whether a field says no more than if it were left out.
func empty(node *yaml.Node) bool {
	if node.Kind != yaml.ScalarNode {
		return len(node.Content) == 0
	}
	return node.Tag == "!!null" || node.Value == "" || node.Value == "false" || node.Tag == "!!int" && node.Value == "0"
}
