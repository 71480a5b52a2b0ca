package resolve

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParsePlugin(t *testing.T) {
	const helm4 = `apiVersion: v1
type: getter/v1
name: four
version: 1.0.0
runtime: subprocess
config: {protocols: [s3, t]}
runtimeConfig:
  protocolCommands:
  - protocols: [s3]
    platformCommand:
    - {command: any, args: [a]}
    - {os: linux, command: linux}
    - {os: linux, arch: arm64, command: arm}
  - protocols: [t]
    platformCommand:
    - {os: windows, command: t.exe}
`
	const helm3 = "name: three\nversion: 1.0.0\ncommand: $HELM_PLUGIN_DIR/x\ndownloaders:\n- command: bin/get  fast\n  protocols: [s3, gs]\n"
	for _, tc := range []struct{ text, scheme, platform, want string }{
		{helm3, "gs", "linux/amd64", "bin/get [fast] true"},
		{helm3, "t", "linux/amd64", " [] false"},
		{helm4, "s3", "darwin/arm64", "any [a] true"},
		{helm4, "s3", "linux/amd64", "linux [] true"},
		{helm4, "s3", "linux/arm64", "arm [] true"},
		{helm4, "t", "linux/amd64", " [] false"},
	} {
		p, err := ParsePlugin([]byte(tc.text))
		if err != nil {
			t.Fatal(err)
		}
		goos, goarch, _ := strings.Cut(tc.platform, "/")
		program, args, ok := p.Command(tc.scheme, goos, goarch)
		if got := fmt.Sprint(program, " ", args, " ", ok); got != tc.want {
			t.Errorf("%s %s on %s: %q, want %q", p.Name, tc.scheme, tc.platform, got, tc.want)
		}
	}
	if p, err := ParsePlugin([]byte(helm4)); err != nil || !slices.Equal(p.Schemes(), []string{"s3", "t"}) {
		t.Errorf("%q, %v", p.Schemes(), err)
	}
	if p, err := ParsePlugin([]byte("name: diff\ncommand: x\n")); err != nil || p.Schemes() != nil {
		t.Errorf("a plugin that fetches nothing: %+v, %v", p, err)
	}
	for text, want := range map[string]string{
		"[":            "yaml",
		"command: x\n": "has no name",
		"name: w\ntype: getter/v1\nruntime: extism/v1\n": `has runtime "extism/v1"`,
	} {
		if _, err := ParsePlugin([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
