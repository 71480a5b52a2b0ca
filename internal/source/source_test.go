package source

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// ours returns Sources of a machine of their own.
func ours(t *testing.T) *Sources {
	t.Helper()
	none := func(string) (string, bool) { return "", false }
	return &Sources{Paths: FindPaths(none, "linux", t.TempDir()), UserAgent: "test"}
}

func configured(repository, name, version string) resolve.Reference {
	return resolve.Reference{Kind: resolve.Configured, Repository: repository, Name: name, Version: resolve.Wanted{Version: version}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fetch(t *testing.T, s *Sources, ref resolve.Reference) (Fetched, error) {
	t.Helper()
	found, err := s.Find(t.Context(), ref)
	if err != nil {
		return Fetched{}, err
	}
	return s.Fetch(t.Context(), found)
}

func add(t *testing.T, s *Sources, name string, server *sourcetest.Repository, a Access) {
	t.Helper()
	_, err := s.AddRepository(t.Context(), resolve.Repository{
		Name: name, URL: server.URL, Username: a.Username, Password: a.Password, PassCredentialsAll: a.PassAll, CAFile: server.CAFile,
	}, false)
	must(t, err)
}

func TestFindPaths(t *testing.T) {
	for _, tc := range []struct {
		goos string
		env  map[string]string
		want []string // cache, config, data, repositories.yaml
	}{
		{"linux", nil, []string{"/home/.cache/helm", "/home/.config/helm", "/home/.local/share/helm", "/home/.config/helm/repositories.yaml"}},
		{"darwin", nil, []string{"/home/Library/Caches/helm", "/home/Library/Preferences/helm", "/home/Library/helm", "/home/Library/Preferences/helm/repositories.yaml"}},
		{"linux", map[string]string{"XDG_CONFIG_HOME": "/x", "HELM_CACHE_HOME": "/c"}, []string{"/c", "/x/helm", "/home/.local/share/helm", "/x/helm/repositories.yaml"}},
		{"linux", map[string]string{"HELM_CONFIG_HOME": "/h", "XDG_CONFIG_HOME": "/x", "HELM_REPOSITORY_CONFIG": ""}, []string{"/home/.cache/helm", "/h", "/home/.local/share/helm", ""}},
	} {
		p := FindPaths(func(name string) (string, bool) { v, ok := tc.env[name]; return v, ok }, tc.goos, "/home")
		if got := []string{p.Cache, p.Config, p.Data, p.RepositoryConfig}; !slices.Equal(got, tc.want) {
			t.Errorf("%s, %v: %q", tc.goos, tc.env, got)
		}
	}
}

// An index is fetched again, compressed, only when it has changed; whatever goes wrong,
// what is cached stays.
func TestIndexes(t *testing.T) {
	server, s := sourcetest.Serve(t, sourcetest.Options{}), ours(t)
	server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	add(t, s, "a", server, Access{})
	all, err := s.Repositories()
	must(t, err)
	info, err := os.Stat(s.Paths.RepositoryConfig)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("repositories.yaml has mode %v", info.Mode())
	}
	server.Requests()
	again := func() Update { return s.UpdateIndexes(t.Context(), all.All())[0] }
	if u := again(); u.Changed || u.Err != nil {
		t.Errorf("%+v", u)
	}
	q := server.Requests()
	if len(q) != 1 || q[0].Status != http.StatusNotModified || !strings.Contains(q[0].Header.Get("Accept-Encoding"), "gzip") {
		t.Errorf("%+v", q)
	}
	server.Put("/index.yaml", []byte("<html>"))
	if u := again(); u.Err == nil || !strings.Contains(u.Err.Error(), "is not an index of charts") {
		t.Errorf("%+v", u)
	}
	if _, err := fetch(t, s, configured("a", "alpha", "")); err != nil {
		t.Error(err)
	}
	server.Publish(t, map[string][]string{"alpha": {"1.0.0", "1.1.0"}})
	if u := again(); !u.Changed || u.Err != nil {
		t.Errorf("%+v", u)
	}
	// Somebody, such as Helm, has written another index meanwhile: it is fetched in full.
	must(t, os.WriteFile(s.Paths.index("a"), []byte("apiVersion: v1\nentries: {}\n"), 0o644))
	if u := again(); !u.Changed || u.Err != nil {
		t.Errorf("%+v", u)
	}
	must(t, s.RemoveRepository(t.Context(), "a"))
	if left, err := os.ReadDir(s.Paths.RepositoryCache); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := fetch(t, s, configured("a", "alpha", "")); err == nil || err.Error() != `there is no repository "a"` {
		t.Error(err)
	}
}

// The cache does not say what the URL of a repository is, as that may hold a password or a token; a
// file of an earlier version that does is replaced.
func TestCacheHoldsNoSecrets(t *testing.T) {
	server, s := sourcetest.Serve(t, sourcetest.Options{}), ours(t)
	server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	secret := strings.Replace(server.URL, "http://", "http://user:canary-1@", 1) + "?token=canary-2"
	_, err := s.AddRepository(t.Context(), resolve.Repository{Name: "a", URL: secret}, false)
	must(t, err)
	_, err = s.AddRepository(t.Context(), resolve.Repository{Name: "a", URL: server.URL}, false)
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Error(err)
	}
	if _, err := fetch(t, s, resolve.Reference{Kind: resolve.Unconfigured, URL: secret, Name: "alpha"}); err != nil {
		t.Fatal(err)
	}
	clean := func() {
		t.Helper()
		for _, name := range []string{"a", unmanaged(secret)} {
			data, err := os.ReadFile(s.Paths.answer(name))
			must(t, err)
			info, err := os.Stat(s.Paths.answer(name))
			must(t, err)
			if strings.Contains(string(data), "canary") || info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v: %s", info.Mode(), data)
			}
		}
	}
	clean()
	all, err := s.Repositories()
	must(t, err)
	server.Requests()
	if u := s.UpdateIndexes(t.Context(), all.All())[0]; u.Changed || u.Err != nil || server.Requests()[0].Status != http.StatusNotModified {
		t.Errorf("%+v", u)
	}
	index, err := os.ReadFile(s.Paths.index("a"))
	must(t, err)
	must(t, os.WriteFile(s.Paths.answer("a"), []byte(`{"url":"`+secret+`","etag":"x","digest":"`+Digest(index)+`"}`), 0o644))
	server.Put("/index.yaml", []byte("<html>"))
	if u := s.UpdateIndexes(t.Context(), all.All())[0]; u.Err == nil {
		t.Errorf("%+v", u)
	}
	if _, err := os.Stat(s.Paths.answer("a")); err == nil {
		t.Error("the file of the earlier version is still there")
	}
	server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	if u := s.UpdateIndexes(t.Context(), all.All())[0]; u.Err != nil {
		t.Errorf("%+v", u)
	}
	clean()
}

// A repository is known once, under one name; nothing is fetched or written for it
// twice, and nothing is written when it can't be read.
func TestAddRepository(t *testing.T) {
	server, s := sourcetest.Serve(t, sourcetest.Options{}), ours(t)
	server.Publish(t, nil)
	entry := resolve.Repository{Name: "a", URL: server.URL}
	for _, bad := range []resolve.Repository{{Name: "x/y", URL: server.URL}, {Name: "b", URL: server.URL + "/none"}} {
		if _, err := s.AddRepository(t.Context(), bad, false); err == nil {
			t.Errorf("%+v is added", bad)
		}
		if _, err := os.Stat(s.Paths.RepositoryConfig); err == nil {
			t.Error("repositories.yaml is there")
		}
	}
	if added, err := s.AddRepository(t.Context(), entry, false); !added || err != nil {
		t.Error(err)
	}
	server.Requests()
	if added, err := s.AddRepository(t.Context(), entry, false); added || err != nil || len(server.Requests()) != 0 {
		t.Errorf("%v, %v", added, err)
	}
	server.Publish(t, map[string][]string{"late": {"1.0.0"}})
	if added, err := s.AddRepository(t.Context(), entry, true); !added || err != nil {
		t.Errorf("%v, %v", added, err)
	}
	if names, err := s.ChartNames("a"); err != nil || !slices.Contains(names, "late") {
		t.Errorf("%v, %v: the index is the old one", names, err)
	}
	entry.PassCredentialsAll = true
	_, err := s.AddRepository(t.Context(), entry, false)
	if _, exists := errors.AsType[*resolve.ExistsError](err); !exists {
		t.Error(err)
	}
	if added, err := s.AddRepository(t.Context(), entry, true); !added || err != nil {
		t.Error(err)
	}
}

// Only bytes whose digest an index promised are used, from the server and from the cache.
func TestDigests(t *testing.T) {
	server, evil, s := sourcetest.Serve(t, sourcetest.Options{}), sourcetest.Serve(t, sourcetest.Options{}), ours(t)
	server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	good := server.File("/alpha-1.0.0.tgz")
	evil.Put("/foo.tgz", []byte("other"))
	evil.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "foo", Version: "1.0.0", URL: "foo.tgz", Digest: sourcetest.Digest(good)}))
	add(t, s, "a", server, Access{})
	add(t, s, "evil", evil, Access{})
	_, err := fetch(t, s, configured("evil", "foo", ""))
	digest, mismatch := errors.AsType[*DigestError](err)
	if !mismatch || digest.Want != "sha256:"+sourcetest.Digest(good) || digest.Got != "sha256:"+sourcetest.Digest([]byte("other")) {
		t.Fatal(err)
	}
	s.AllowMismatch = true
	if f, err := fetch(t, s, configured("evil", "foo", "")); err != nil || string(f.Data) != "other" || f.Mismatch == nil {
		t.Errorf("%+v, %v", f, err)
	}
	s.AllowMismatch = false
	f, err := fetch(t, s, configured("a", "alpha", ""))
	if err != nil || f.Cached || !bytes.Equal(f.Data, good) {
		t.Errorf("what the other repository has is not alpha: %v, %v", f.Cached, err)
	}
	server.Requests()
	if f, err = fetch(t, s, configured("a", "alpha", "")); err != nil || !f.Cached || len(server.Requests()) != 0 {
		t.Errorf("%v, %v", f.Cached, err)
	}
	must(t, os.WriteFile(s.contentFile(f.Digest, chartContent), append([]byte("x"), good[1:]...), 0o644))
	if f, err = fetch(t, s, configured("a", "alpha", "")); err != nil || f.Cached || !bytes.Equal(f.Data, good) {
		t.Errorf("%v, %v", f.Cached, err)
	}
}

// Offline, everything that was fetched before is available, and nothing else.
func TestOffline(t *testing.T) {
	server, s := sourcetest.Serve(t, sourcetest.Options{}), ours(t)
	server.Publish(t, map[string][]string{"alpha": {"1.0.0"}, "beta": {"1.0.0"}})
	add(t, s, "a", server, Access{})
	refs := []resolve.Reference{
		configured("a", "alpha", ""),
		{Kind: resolve.Unconfigured, URL: server.URL, Name: "alpha"},
		{Kind: resolve.Remote, URL: server.URL + "/alpha-1.0.0.tgz"},
	}
	for _, ref := range refs {
		if _, err := fetch(t, s, ref); err != nil {
			t.Fatal(err)
		}
	}
	s.Offline = true
	server.Stop()
	for _, ref := range refs {
		if f, err := fetch(t, s, ref); err != nil || !f.Cached {
			t.Errorf("%+v: %v", ref, err)
		}
	}
	for _, ref := range []resolve.Reference{
		configured("a", "beta", ""),
		{Kind: resolve.Unconfigured, URL: server.URL + "/x", Name: "alpha"},
		{Kind: resolve.Remote, URL: server.URL + "/beta-1.0.0.tgz"},
	} {
		_, err := fetch(t, s, ref)
		if _, offline := errors.AsType[*OfflineError](err); !offline {
			t.Errorf("%+v: %v", ref, err)
		}
	}
}

// Credentials go to the origin that they were given for: not where a redirect leads,
// nor, unless that is wanted, where the index does.
func TestCredentialsStay(t *testing.T) {
	elsewhere := sourcetest.Serve(t, sourcetest.Options{})
	server := sourcetest.Serve(t, sourcetest.Options{TLS: true, User: "u", Password: "p", Redirect: map[string]string{"/moved/": elsewhere.URL + "/"}})
	content := sourcetest.Chart(t, "alpha", "1.0.0", "")
	elsewhere.Put("/alpha-1.0.0.tgz", content)
	server.Put("/own/alpha-1.0.0.tgz", content)
	for name, tc := range map[string]struct {
		url     string
		passAll bool
		sent    bool
	}{
		"a redirect":            {"moved/alpha-1.0.0.tgz", false, false},
		"a redirect, to all":    {"moved/alpha-1.0.0.tgz", true, false},
		"another host":          {elsewhere.URL + "/alpha-1.0.0.tgz", false, false},
		"another host, allowed": {elsewhere.URL + "/alpha-1.0.0.tgz", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := ours(t)
			server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: tc.url}))
			add(t, s, "a", server, Access{Username: "u", Password: "p", PassAll: tc.passAll})
			elsewhere.Requests()
			_, err := fetch(t, s, configured("a", "alpha", ""))
			redirected := strings.HasPrefix(name, "a redirect")
			if redirected {
				// A redirect from https to http is not followed at all.
				if err == nil || !strings.Contains(err.Error(), "redirects from https to http") {
					t.Error(err)
				}
			} else if err != nil {
				t.Error(err)
			}
			asked := elsewhere.Requests()
			if (len(asked) == 0) != redirected {
				t.Errorf("the other server was sent %+v", asked)
			}
			for _, q := range asked {
				if sent := q.Header.Get("Authorization") != ""; sent != tc.sent {
					t.Errorf("credentials were sent: %v", sent)
				}
			}
		})
	}
	plain := sourcetest.Serve(t, sourcetest.Options{Redirect: map[string]string{"/moved/": elsewhere.URL + "/"}})
	plain.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "moved/alpha-1.0.0.tgz"}))
	s := ours(t)
	add(t, s, "a", plain, Access{Username: "u", Password: "p"})
	if _, err := fetch(t, s, configured("a", "alpha", "")); err != nil {
		t.Error(err)
	}
	if q := elsewhere.Requests(); len(q) != 1 || q[0].Header.Get("Authorization") != "" || q[0].Header.Get("Referer") != "" {
		t.Errorf("%+v", q)
	}
}

// A netrc file has the logins of repositories that have none of their own, each for its
// own server; a mirror has its own, too.
func TestNetrc(t *testing.T) {
	elsewhere := sourcetest.Serve(t, sourcetest.Options{TLS: true})
	server := sourcetest.Serve(t, sourcetest.Options{TLS: true, User: "u", Password: "p"})
	content := sourcetest.Chart(t, "alpha", "1.0.0", "")
	elsewhere.Put("/alpha-1.0.0.tgz", content)
	server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: elsewhere.URL + "/alpha-1.0.0.tgz"}))
	machine := func(r *sourcetest.Repository) string {
		return "machine " + strings.TrimPrefix(r.URL, "https://") + " login u password p\n"
	}
	with := func(netrc string) *Sources {
		s := ours(t)
		s.Access.Insecure = true
		s.Paths.Netrc = filepath.Join(t.TempDir(), "netrc")
		must(t, os.WriteFile(s.Paths.Netrc, []byte(netrc), 0o600))
		return s
	}
	ref := resolve.Reference{Kind: resolve.Unconfigured, URL: server.URL, Name: "alpha"}
	if _, err := fetch(t, with(machine(server)), ref); err != nil {
		t.Error(err)
	}
	if q := elsewhere.Requests(); len(q) != 1 || q[0].Header.Get("Authorization") != "" {
		t.Errorf("the login has gone to another server: %+v", q)
	}
	if _, err := fetch(t, with("default login u password p\n"+machine(elsewhere)), ref); err == nil {
		t.Error("the login of another machine was used")
	}
	s := with(machine(server))
	s.Settings.Mirrors = []resolve.Mirror{{Prefix: "https://charts.example.com/", To: server.URL + "/"}}
	ref.URL = "https://charts.example.com"
	if _, err := fetch(t, s, ref); err != nil {
		t.Error(err)
	}
}

// Temporary failures are retried, after as long as the server asks for.
func TestRetries(t *testing.T) {
	server := sourcetest.Serve(t, sourcetest.Options{Fault: func(w http.ResponseWriter, r *http.Request, n int) bool {
		switch {
		case r.URL.Path == "/index.yaml" && n < 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/alpha-1.0.0.tgz" && n == 0:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			return false
		}
		return true
	}})
	server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	s := ours(t)
	add(t, s, "a", server, Access{})
	began := time.Now()
	if _, err := fetch(t, s, configured("a", "alpha", "")); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("it took %s, want the second that the server asks for", took)
	}
	if got := server.Asked(); len(got) != 5 {
		t.Errorf("%q", got)
	}
}

// An endless answer, or one that is far too large, is refused early.
func TestTooLarge(t *testing.T) {
	server := sourcetest.Serve(t, sourcetest.Options{Fault: func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !strings.HasPrefix(r.URL.Path, "/big") {
			return false
		}
		if r.URL.Path == "/bigsaid" {
			w.Header().Set("Content-Length", "5000000000")
		}
		for chunk := make([]byte, 1<<20); ; {
			if _, err := w.Write(chunk); err != nil {
				return true
			}
		}
	}})
	s := ours(t)
	for _, path := range []string{"/big", "/bigsaid"} {
		_, err := fetch(t, s, resolve.Reference{Kind: resolve.Remote, URL: server.URL + path})
		if err == nil || !strings.Contains(err.Error(), "is larger than 100 MiB") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(s.Paths.ContentCache, "*", "*")); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}
