package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// plugin is an installed getter plugin that sources.yaml allows.
type plugin struct {
	resolve.Plugin
	dir string
}

// pluginGrace is how long a plugin may take to end after it was stopped.
const pluginGrace = 5 * time.Second

// Schemes returns the URL schemes that plugins fetch here. Errors: a plugin that is allowed
// can't be run.
func (s *Sources) Schemes() ([]string, error) {
	var out []string
	plugins, err := s.plugins()
	for _, p := range plugins {
		out = append(out, p.Schemes()...)
	}
	return out, err
}

// plugins returns the allowed plugins, in the order of their folders.
func (s *Sources) plugins() ([]plugin, error) {
	if len(s.Settings.Plugins) == 0 {
		return nil, nil // plugin files are not even read
	}
	var out []plugin
	for _, folder := range filepath.SplitList(s.Paths.Plugins) {
		files, err := filepath.Glob(filepath.Join(folder, "*", "plugin.yaml"))
		if err != nil {
			return nil, fmt.Errorf("look for plugins: %w", err)
		}
		for _, file := range files {
			data, err := inputfile.Read(file, maxConfigBytes)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read a plugin: %w", err)
			}
			p, err := resolve.ParsePlugin(data)
			if !slices.Contains(s.Settings.Plugins, p.Name) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", file, err)
			}
			out = append(out, plugin{Plugin: p, dir: filepath.Dir(file)})
		}
	}
	return out, nil
}

// UnknownPlugins returns the names that sources.yaml allows and that no installed plugin has.
// Errors: a plugin that is allowed can't be run.
func (s *Sources) UnknownPlugins() ([]string, error) {
	plugins, err := s.plugins()
	if err != nil {
		return nil, err
	}
	return s.unknown(plugins), nil
}

// unknown returns the allowed names that none of plugins has.
func (s *Sources) unknown(plugins []plugin) []string {
	return slices.DeleteFunc(slices.Clone(s.Settings.Plugins), func(name string) bool {
		return slices.ContainsFunc(plugins, func(p plugin) bool { return p.Name == name })
	})
}

// byPlugin fetches a URL with a plugin, unless the scheme is http or https, and reports whether
// it did. As in HTTP requests, only the origin of home gets the credentials.
func (s *Sources) byPlugin(ctx context.Context, u *url.URL, r request, home string) (*http.Response, bool, error) {
	if u.Scheme == "http" || u.Scheme == "https" {
		return nil, false, nil
	}
	plugins, err := s.plugins()
	if err != nil {
		return nil, false, err
	}
	for _, p := range plugins {
		program, args, ok := p.Command(u.Scheme, runtime.GOOS, runtime.GOARCH)
		if !ok {
			continue
		}
		if unknown := s.unknown(plugins); len(unknown) > 0 && s.TellUnknown != nil {
			s.TellUnknown(unknown)
		}
		access := r.access
		if !resolve.SameOrigin(home, r.url) {
			access = Access{}
		}
		body, err := s.start(ctx, p, program, append(slices.Clone(args), access.CertFile, access.KeyFile, access.CAFile, r.url), access)
		if err != nil {
			return nil, true, err // no server was asked
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, ContentLength: -1}, true, nil
	}
	return nil, false, &resolve.SchemeError{Scheme: u.Scheme, URL: resolve.Public(r.url)}
}

// start runs a plugin's program, whose path is relative to the plugin's folder. What it fetches is
// its standard output.
func (s *Sources) start(ctx context.Context, p plugin, program string, args []string, access Access) (io.ReadCloser, error) {
	own := map[string]string{
		"HELM_PLUGIN_NAME": p.Name, "HELM_PLUGIN_DIR": p.dir,
		"HELM_PLUGIN_USERNAME": access.Username, "HELM_PLUGIN_PASSWORD": access.Password,
		"HELM_PLUGIN_PASS_CREDENTIALS_ALL": strconv.FormatBool(access.PassAll),
	}
	var environment []string
	if s.Environment != nil {
		environment = s.Environment()
	}
	for name, value := range own {
		environment = append(environment, name+"="+value)
	}
	variable := func(name string) string {
		if value, ok := own[name]; ok {
			return value
		}
		return os.Getenv(name)
	}
	if program = os.Expand(program, variable); !filepath.IsAbs(program) {
		program = filepath.Join(p.dir, program)
	}
	ctx, stop := context.WithTimeout(ctx, requestTimeout)
	run := exec.CommandContext(ctx, program, args...)
	complaints := newPluginErrors(s.PluginErrors, access.Password)
	run.Env, run.WaitDelay, run.Stderr = environment, pluginGrace, complaints
	out, err := run.StdoutPipe()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("run plugin %s: %w", p.Name, err)
	}
	return &pluginOutput{name: p.Name, run: run, out: out, complaints: complaints, stop: stop}, nil
}

// pluginOutput is what a plugin prints. It ends with an error if the plugin fails.
type pluginOutput struct {
	name string
	run  *exec.Cmd
	out  io.Reader
	// complaints is its standard error.
	complaints io.Closer
	stop       func()
	// end is io.EOF or an error after the plugin has ended, nil before.
	end error
}

// Read implements io.Reader.
func (o *pluginOutput) Read(p []byte) (int, error) {
	if o.end != nil {
		return 0, o.end
	}
	n, err := o.out.Read(p)
	if err != nil {
		o.finish()
		err = o.end
	}
	return n, err
}

// Close implements io.Closer. A plugin that is still running is stopped.
func (o *pluginOutput) Close() error {
	o.stop()
	if o.end == nil {
		o.finish()
	}
	return nil
}

func (o *pluginOutput) finish() {
	o.end = io.EOF
	err := o.run.Wait()
	_ = o.complaints.Close()
	if err != nil {
		o.end = fmt.Errorf("plugin %s: %w", o.name, err)
	}
	o.stop()
}
