// Command sbomgen writes the SBOM of a Go program: the modules that its build information
// names, in SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/). It needs neither the network nor
// another program, and always writes the same SBOM for the same program.
//
//	go run ./internal/sbomgen PROGRAM FILE
package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

const homepage = "https://github.com/kubectl-release/kubectl-release"

type document struct {
	SPDXVersion       string         `json:"spdxVersion"`
	DataLicense       string         `json:"dataLicense"`
	SPDXID            string         `json:"SPDXID"`
	Name              string         `json:"name"`
	DocumentNamespace string         `json:"documentNamespace"`
	CreationInfo      creation       `json:"creationInfo"`
	Packages          []module       `json:"packages"`
	Relationships     []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type module struct {
	SPDXID           string      `json:"SPDXID"`
	Name             string      `json:"name"`
	VersionInfo      string      `json:"versionInfo,omitempty"`
	DownloadLocation string      `json:"downloadLocation"`
	FilesAnalyzed    bool        `json:"filesAnalyzed"`
	Checksums        []checksum  `json:"checksums,omitempty"`
	Comment          string      `json:"comment,omitempty"`
	ExternalRefs     []reference `json:"externalRefs,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbomgen PROGRAM FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbomgen:", err)
		os.Exit(1)
	}
}

func write(program, file string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read %s: %w", program, err)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read %s: %w", program, err)
	}
	out, err := json.MarshalIndent(describe(filepath.Base(program), info, fmt.Sprintf("%x", sha256.Sum256(data))), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(out, '\n'), 0o644)
}

// describe returns the document for a program; sum is its SHA-256 in hex. The creation time is that
// of the commit.
func describe(name string, info *debug.BuildInfo, sum string) document {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	const program = "SPDXRef-program"
	d := document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", Name: name,
		DocumentNamespace: homepage + "/spdx/" + sum,
		CreationInfo:      creation{cmp.Or(settings["vcs.time"], time.Unix(0, 0).UTC().Format(time.RFC3339)), []string{"Tool: kubectl-release-sbomgen"}},
		Packages: []module{{
			SPDXID: program, Name: name, VersionInfo: cmp.Or(settings["vcs.revision"], info.Main.Version), DownloadLocation: homepage,
			Checksums: []checksum{{"SHA256", sum}}, Comment: strings.TrimSpace(settings["GOOS"] + "/" + settings["GOARCH"] + " " + info.GoVersion),
		}},
		Relationships: []relationship{{"SPDXRef-DOCUMENT", "DESCRIBES", program}},
	}
	for i, m := range append([]*debug.Module{{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}}, info.Deps...) {
		if m.Replace != nil {
			m = m.Replace
		}
		id := "SPDXRef-module-" + strconv.Itoa(i)
		comment := ""
		if m.Sum != "" {
			comment = "go.sum: " + m.Sum
		}
		d.Packages = append(d.Packages, module{
			SPDXID: id, Name: m.Path, VersionInfo: m.Version, DownloadLocation: "NOASSERTION", Comment: comment,
			ExternalRefs: []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version}},
		})
		d.Relationships = append(d.Relationships, relationship{program, "DEPENDS_ON", id})
	}
	return d
}
