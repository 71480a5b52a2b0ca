// Package deps pins modules until the rooms that use them exist. It goes away before the first landing.
package deps

import (
	_ "github.com/BurntSushi/toml"
	_ "github.com/Masterminds/semver/v3"
	_ "github.com/Masterminds/sprig/v3"
	_ "github.com/aymanbagabas/go-udiff"
	_ "github.com/fatih/color"
	_ "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	_ "github.com/gobwas/glob"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/urfave/cli/v2"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/term"
	_ "golang.org/x/tools/txtar"
	_ "k8s.io/api/apps/v1"
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	_ "k8s.io/cli-runtime/pkg/genericclioptions"
	_ "k8s.io/client-go/dynamic"
	_ "k8s.io/client-go/kubernetes"
	_ "k8s.io/client-go/restmapper"
	_ "k8s.io/client-go/util/csaupgrade"
	_ "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	_ "sigs.k8s.io/yaml"
)
