package cluster

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// discoveryAge is how long cached discovery is valid, as in kubectl (cli-runtime v0.37.2,
// pkg/genericclioptions/config_flags.go, toDiscoveryClient).
const discoveryAge = 6 * time.Hour

// cache is kubectl's discovery cache for a cluster: a file for the groups and one for each group
// version (client-go v0.37.2, discovery/cached/disk). kubectl reads what we write there, and vice
// versa, in all versions; like kubectl, we write no files for group versions without resources. A
// cache without a folder stores nothing.
type cache struct{ dir string }

func (c cache) groupsFile() string { return filepath.Join(c.dir, "servergroups.json") }

func (c cache) resourcesFile(groupVersion string) string {
	return filepath.Join(c.dir, filepath.FromSlash(groupVersion), "serverresources.json")
}

// restore reads what an earlier run stored; ok is false when that is missing, unreadable or too old.
// Group versions may be missing.
func (c cache) restore() (a answers, ok bool) {
	if c.dir == "" {
		return answers{}, false
	}
	groups := &metav1.APIGroupList{}
	if !read(c.groupsFile(), groups) || len(groups.Groups) == 0 {
		return answers{}, false
	}
	for i := range groups.Groups {
		group := &groups.Groups[i]
		a.Groups = append(a.Groups, group)
		for _, v := range group.Versions {
			list := &metav1.APIResourceList{}
			if filepath.IsLocal(v.GroupVersion) && read(c.resourcesFile(v.GroupVersion), list) {
				a.Resources = append(a.Resources, list)
			}
		}
	}
	return a, true
}

// keep writes the answers for later runs and for kubectl. Errors are ignored: without a cache,
// later runs ask again.
func (c cache) keep(a answers) {
	if c.dir == "" {
		return
	}
	groups := &metav1.APIGroupList{}
	for _, group := range a.Groups {
		groups.Groups = append(groups.Groups, *group)
	}
	write(c.groupsFile(), groups)
	for _, list := range a.Resources {
		if len(list.APIResources) > 0 && filepath.IsLocal(list.GroupVersion) {
			write(c.resourcesFile(list.GroupVersion), list)
		}
	}
}

func read(file string, into runtime.Object) bool {
	info, err := os.Stat(file)
	if err != nil || time.Since(info.ModTime()) > discoveryAge {
		return false
	}
	content, err := os.ReadFile(file)
	return err == nil && runtime.DecodeInto(scheme.Codecs.UniversalDecoder(), content, into) == nil
}

// write replaces a file atomically, unless it has the same content and remains valid for a while.
// Errors are ignored, see keep.
func write(file string, object runtime.Object) {
	content, err := runtime.Encode(scheme.Codecs.LegacyCodec(), object)
	if err != nil {
		return
	}
	if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) < discoveryAge/2 {
		if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, content) {
			return
		}
	}
	if os.MkdirAll(filepath.Dir(file), 0o750) != nil {
		return
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".")
	if err != nil {
		return
	}
	_, err = temporary.Write(content)
	closed := temporary.Close()
	if err == nil && closed == nil && os.Chmod(temporary.Name(), 0o660) == nil && os.Rename(temporary.Name(), file) == nil {
		return
	}
	_ = os.Remove(temporary.Name())
}

// KubectlCache returns kubectl's cache folder: KUBECACHEDIR, else ~/.kube/cache. Without a home
// folder it is "": others may be able to write to a folder for temporary files, and could plant
// false answers there.
func KubectlCache() string {
	if dir := os.Getenv("KUBECACHEDIR"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".kube", "cache")
}

// unfitForFileName matches what kubectl keeps out of file names
// (k8s.io/cli-runtime/pkg/genericclioptions/config_flags.go, overlyCautiousIllegalFileCharacters).
var unfitForFileName = regexp.MustCompile(`[^(\w/.)]`)

// cacheName turns a server's address into a folder name as kubectl does (computeDiscoverCacheDir
// there), so that both share one cache.
func cacheName(host string) string {
	host = strings.TrimPrefix(strings.TrimPrefix(host, "https://"), "http://")
	return unfitForFileName.ReplaceAllString(host, "_")
}
