package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// Connection settings are remembered by host: in hosts.yaml for registries, since Helm has no
// file for that, and in repositories.yaml for the servers of repositories.

// readHosts reads hosts.yaml. File names in it are relative to its folder.
func (p Paths) readHosts() (resolve.Hosts, error) {
	if p.hosts() == "" {
		return resolve.Hosts{}, nil
	}
	data, err := inputfile.Read(p.hosts(), maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return resolve.Hosts{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings of hosts: %w", err)
	}
	hosts, err := resolve.ParseHosts(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p.hosts(), err)
	}
	for name, server := range hosts {
		hosts[name], _ = server.Files(func(file string) (string, error) {
			if filepath.IsAbs(file) {
				return file, nil
			}
			return filepath.Join(filepath.Dir(p.hosts()), file), nil
		})
	}
	return hosts, nil
}

// remembered returns the connection settings of a server without any from a flag or entry, and
// the file they are in; zero if there are none, and for servers without TLS.
func (s *Sources) remembered(at *url.URL) (server resolve.Server, file string) {
	if at.Scheme != "https" {
		return resolve.Server{}, ""
	}
	if server, kept := s.Settings.Hosts[resolve.HostName(at.Host)]; kept {
		return server, s.Paths.hosts()
	}
	repositories, err := s.Repositories()
	if err != nil {
		return resolve.Server{}, "" // whoever needs the repositories gets the error
	}
	for _, e := range repositories.All() {
		if server := e.Server(); server != (resolve.Server{}) && resolve.SameOrigin(e.URL, at.String()) {
			return server, s.Paths.RepositoryConfig
		}
	}
	return resolve.Server{}, ""
}

// keepServer stores the connection settings of a registry, replacing previous ones, with
// absolute file names, and returns what it stored.
func (s *Sources) keepServer(ctx context.Context, host string, server resolve.Server) (resolve.Server, error) {
	server, err := server.Files(filepath.Abs)
	if err != nil {
		return server, err
	}
	return server, s.changeHosts(ctx, func(hosts resolve.Hosts) bool {
		changed := hosts[resolve.HostName(host)] != server
		hosts[resolve.HostName(host)] = server
		return changed
	})
}

// forgetServer removes what keepServer stored, if anything.
func (s *Sources) forgetServer(ctx context.Context, host string) error {
	if _, kept := s.Settings.Hosts[resolve.HostName(host)]; !kept {
		return nil
	}
	return s.changeHosts(ctx, func(hosts resolve.Hosts) bool {
		delete(hosts, resolve.HostName(host))
		return true
	})
}

// changeHosts reads hosts.yaml under a lock, calls change, which reports whether anything is
// different, and writes the file with mode 0600.
func (s *Sources) changeHosts(ctx context.Context, change func(resolve.Hosts) bool) error {
	if s.Paths.hosts() == "" {
		return fmt.Errorf("write the settings of hosts: %w", errNoFolder)
	}
	unlock, err := locked(ctx, s.Paths.hosts()+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	hosts, err := s.Paths.readHosts()
	if err != nil || !change(hosts) {
		return err
	}
	data, err := hosts.Bytes()
	if err == nil {
		err = outputfile.Write(s.Paths.hosts(), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the settings of hosts: %w", err)
	}
	s.Settings.Hosts = hosts
	return nil
}
