package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Server says how to connect to a server, regardless of what is fetched from it.
type Server struct {
	// CAFile replaces the system's certificate authorities. CertFile and KeyFile are set together.
	CAFile   string `json:"caFile,omitempty"`
	CertFile string `json:"certFile,omitempty"`
	KeyFile  string `json:"keyFile,omitempty"`
	// Insecure skips verification of the server's certificate.
	Insecure bool `json:"insecureSkipTLSVerify,omitempty"`
	// PlainHTTP connects to a registry without TLS.
	PlainHTTP bool `json:"plainHTTP,omitempty"`
}

// Files returns the server with the name of each file replaced by the result of of.
func (s Server) Files(of func(file string) (string, error)) (Server, error) {
	for _, file := range []*string{&s.CAFile, &s.CertFile, &s.KeyFile} {
		if *file == "" {
			continue
		}
		found, err := of(*file)
		if err != nil {
			return s, err
		}
		*file = found
	}
	return s, nil
}

// String describes the settings, without the contents of files.
func (s Server) String() string {
	var out []string
	for what, file := range map[string]string{"CA file ": s.CAFile, "client certificate ": s.CertFile} {
		if file != "" {
			out = append(out, what+file)
		}
	}
	for what, is := range map[string]bool{"certificate not checked": s.Insecure, "no TLS": s.PlainHTTP} {
		if is {
			out = append(out, what)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// Hosts is hosts.yaml: how to connect to servers, by HostName.
type Hosts map[string]Server

// HostName returns a host as written in hosts.yaml: HOST, or HOST:PORT unless the port is 443.
func HostName(host string) string { return strings.TrimSuffix(strings.ToLower(host), ":443") }

// ParseHosts parses hosts.yaml. An unknown key is an error, as in sources.yaml.
func ParseHosts(data []byte) (Hosts, error) {
	var read Hosts
	if err := yaml.UnmarshalStrict(data, &read); err != nil {
		return nil, err
	}
	out := Hosts{}
	for _, name := range slices.Sorted(maps.Keys(read)) {
		server := read[name]
		switch _, twice := out[HostName(name)]; {
		case !imageHost.MatchString(name):
			return nil, fmt.Errorf("%q is not the name of a host: HOST or HOST:PORT", name)
		case twice:
			return nil, fmt.Errorf("%s is listed twice", HostName(name))
		case (server.CertFile == "") != (server.KeyFile == ""):
			return nil, fmt.Errorf("%s: certFile and keyFile must be set together", name)
		}
		out[HostName(name)] = server
	}
	return out, nil
}

// Bytes returns the content of the file.
func (h Hosts) Bytes() ([]byte, error) { return yaml.Marshal(h) }

// Server returns the connection settings in a repository's entry.
func (r Repository) Server() Server {
	return Server{CAFile: r.CAFile, CertFile: r.CertFile, KeyFile: r.KeyFile, Insecure: r.InsecureSkipTLSVerify}
}
