// Package gittest is imported for its effect by tests that run git, or the program, which runs it: git then has
// neither the developer's configuration nor the variables by which a hook names the developer's repository.
package gittest

import (
	"os"
	"strings"
)

func init() {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "GIT_") {
			_ = os.Unsetenv(name)
		}
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		// A global configuration may be what lets go build ask git for the commit of this checkout.
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
	} {
		_ = os.Setenv(name, value)
	}
}
