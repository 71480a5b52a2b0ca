package resolve

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const digest = "sha256:643d5437104296e21d906ecb15b2c96ad278f20cfc4af53b12bb6069bd853726"

// What a chart reference means, in the order of Helm 4.3.1 (SOURCES §2.1): what exists here
// comes first, whatever else it could be.
func TestParse(t *testing.T) {
	local := func(path string) bool { return path == "here/alpha" || path == "./web" || path == "web.tgz" }
	image := Image{Host: "127.0.0.1:5000", Path: "charts/alpha"}
	tagged := func(tag string) Image { i := image; i.Tag = tag; return i }
	for _, tc := range []struct {
		why  string
		in   Request
		want Reference
	}{
		{"a folder that is there wins over REPO/NAME", Request{Chart: "here/alpha"}, Reference{Kind: Local, Path: "here/alpha"}},
		{"spaces around it go", Request{Chart: " web.tgz "}, Reference{Kind: Local, Path: "web.tgz"}},
		{"REPO/NAME", Request{Chart: "a/alpha", Version: " ^1 "}, Reference{Kind: Configured, Repository: "a", Name: "alpha", Version: Wanted{Version: "^1"}}},
		{"the name may have slashes", Request{Chart: "a/b/c", Devel: true}, Reference{Kind: Configured, Repository: "a", Name: "b/c", Version: Wanted{Devel: true}}},
		{"--repo wins over what is there", Request{Chart: "here/alpha", Repo: "https://h/x"}, Reference{Kind: Unconfigured, URL: "https://h/x", Name: "here/alpha"}},
		{"a URL", Request{Chart: "https://h/x-1.0.0.tgz?a=b"}, Reference{Kind: Remote, URL: "https://h/x-1.0.0.tgz?a=b"}},
		{"a URL of a getter plugin", Request{Chart: "s3://h/x-1.0.0.tgz"}, Reference{Kind: Remote, URL: "s3://h/x-1.0.0.tgz"}},
		{"a registry", Request{Chart: "oci://127.0.0.1:5000/charts/alpha"}, Reference{Kind: Registry, Image: image}},
		{"a tag", Request{Chart: "oci://127.0.0.1:5000/charts/alpha:1.0.0"}, Reference{Kind: Registry, Image: tagged("1.0.0")}},
		{"a tag with a +", Request{Chart: "oci://127.0.0.1:5000/charts/alpha:1.0.0+b"}, Reference{Kind: Registry, Image: tagged("1.0.0_b")}},
		{"a digest", Request{Chart: "oci://127.0.0.1:5000/charts/alpha@" + digest}, Reference{Kind: Registry, Image: image, Digest: digest}},
		{"both", Request{Chart: "oci://127.0.0.1:5000/charts/alpha:1.0.0@" + digest}, Reference{Kind: Registry, Image: tagged("1.0.0"), Digest: digest}},
		{"a digest behind --version", Request{Chart: "oci://127.0.0.1:5000/charts/alpha", Version: "1.0.0@" + digest}, Reference{Kind: Registry, Image: tagged("1.0.0"), Digest: digest, Version: Wanted{Version: "1.0.0"}}},
		{"an exact version is a tag", Request{Chart: "oci://127.0.0.1:5000/charts/alpha", Version: "1.0.0+b"}, Reference{Kind: Registry, Image: tagged("1.0.0_b"), Version: Wanted{Version: "1.0.0+b"}}},
		{"a range is none", Request{Chart: "oci://127.0.0.1:5000/charts/alpha", Version: "^1"}, Reference{Kind: Registry, Image: image, Version: Wanted{Version: "^1"}}},
		{"--tag is any", Request{Chart: "oci://127.0.0.1:5000/charts/alpha", Tag: "latest"}, Reference{Kind: Registry, Image: tagged("latest")}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, err := Parse(tc.in, local, []string{"s3"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Each mistake has a sentence of its own.
func TestParseRefuses(t *testing.T) {
	other := strings.Replace(digest, "64", "65", 1)
	for _, tc := range []struct {
		in   Request
		want string
	}{
		{Request{Chart: " "}, "the name of the chart is empty"},
		{Request{Chart: "nosuch"}, "there is no folder or file nosuch, and a chart of a repository is written REPO/NAME"},
		{Request{Chart: "/nope"}, `path "/nope" does not exist`},
		{Request{Chart: "./nope"}, `path "./nope" does not exist`},
		{Request{Chart: "OCI://h/x"}, "OCI://h/x: a chart in a registry is written oci://HOST/PATH[:TAG][@DIGEST]"},
		{Request{Chart: "u:p@h/x"}, "h/x: the name of a repository has no user or password"},
		{Request{Chart: "oci:x"}, "oci:x: a chart in a registry is written oci://HOST/PATH"},
		{Request{Chart: "oci:/h/x", Tag: "latest"}, "oci:/h/x: a chart in a registry is written oci://HOST/PATH"},
		{Request{Chart: "oci:x@" + digest}, "oci:x@" + digest + ": a chart in a registry"},
		{Request{Chart: "oci:u:p/q@h/x"}, "oci:h/x: a chart in a registry"},
		{Request{Chart: "oci:u:p@h/x@" + digest}, "oci:h/x@" + digest + ": a chart in a registry is written oci://HOST/PATH"},
		{Request{Chart: "ftp://h/x.tgz"}, `URLs of scheme "ftp" can't be fetched`},
		{Request{Chart: "https://h"}, "it has no host or no path"},
		{Request{Chart: "x", Repo: "oci://h/charts/"}, "name the chart oci://h/charts/x"},
		{Request{Chart: "x", Repo: "charts"}, "--repo charts is not the URL of a repository"},
		{Request{Chart: "s3://t0ken@h/x.tgz?sig=t0ken"}, `s3://h/x.tgz?withheld: URLs of scheme "s3"`},
		{Request{Chart: "https://t0ken@h?sig=t0ken"}, "https://h?withheld is not the URL of a chart"},
		{Request{Chart: "x", Repo: "oci://t0ken@h/charts"}, "--repo oci://h/charts is a registry, which has no index: name the chart oci://h/charts/x"},
		{Request{Chart: "x", Repo: "https://t0ken@?sig=t0ken"}, "--repo https:?withheld is not the URL of a repository"},
		{Request{Chart: "https://t0ken@h/x.tgz", Tag: "latest"}, "oci://…), which https://h/x.tgz is not"},
		{Request{Chart: "a/x", Tag: "latest"}, "--tag latest is only for charts in registries"},
		{Request{Chart: "a/x", Version: "1.0.0@sha256:12"}, "is not a digest"},
		{Request{Chart: "oci://h/x:1.0.0", Version: "1.0.1"}, "are different versions"},
		{Request{Chart: "oci://h/x:1.0.0", Tag: "latest"}, "give no other version"},
		{Request{Chart: "oci://h/x@" + digest, Version: "1@" + other}, "name different digests"},
		{Request{Chart: "oci://h/X"}, "is not the path of an image"},
		{Request{Chart: "oci://h/../x"}, "is not the path of an image"},
		{Request{Chart: "oci://h/"}, "is not the path of an image"},
		{Request{Chart: "oci://u:p@h/x"}, "oci://h/x: a reference to a registry has no user or password"},
		{Request{Chart: "oci://a b/x"}, "is not the name of a registry"},
		{Request{Chart: "oci://h/x:a b"}, "is not a tag"},
		{Request{Chart: "oci://h/x@sha512:00"}, "is not a digest"},
	} {
		_, err := Parse(tc.in, func(string) bool { return false }, nil)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want %q", tc.in, err, tc.want)
		}
	}
}

func TestChooseTag(t *testing.T) {
	r, err := Parse(Request{Chart: "oci://h/x", Version: "~1.0"}, func(string) bool { return false }, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.ChooseTag([]string{"latest", "1.0.2_b", "1.0.1", "v1.0.9", "1.1.0", "sha256-00.sig"})
	if got != "1.0.2_b" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := r.ChooseTag(nil); err == nil || !strings.Contains(err.Error(), "has no tags") {
		t.Error(err)
	}
	if _, err := r.ChooseTag([]string{"latest", "2.0.0"}); err == nil || err.Error() != "oci://h/x: there is no version ~1.0; there is 2.0.0" {
		t.Error(err)
	}
}

// Flux chooses among the tags that a regular expression matches, anywhere in them, and takes
// v1.2.3 for a version, but neither 1.2 nor latest.
func TestChooseTagAsFlux(t *testing.T) {
	tags := []string{"latest", "1.9", "1.0.1", "v1.0.9", "1.0.9_4", "1.1.0", "1.2.0-alpine", "1.3.0-debian", "2.0.0-rc.1"}
	for _, c := range []struct {
		version, tags, want string
		plus                bool
	}{
		{"~1.0", AnyTag, "v1.0.9", false},
		{"~1.0", AnyTag, "1.0.9_4", true},
		{"~1.0", "^[0-9]", "1.0.1", false},
		{">=1.0.0-0", "-alpine$", "1.2.0-alpine", false},
		{"1.0.9", AnyTag, "v1.0.9", false},
		{">=1.0.0", AnyTag, "1.1.0", false},
		{">=1.0.0", "_4$", "1.0.9_4", true},
		{">=1.0.0", "nothing", "oci://h/x: there is no version >=1.0.0", false},
		{">=1.0.0", "(", "oci://h/x: the regular expression for tags: error parsing regexp", false},
	} {
		r, err := Parse(Request{Chart: "oci://h/x", Version: c.version, Tags: c.tags}, func(string) bool { return false }, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.PlusTags = c.plus
		got, err := r.ChooseTag(tags)
		if got != c.want && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s among %s: %s %v, want %s", c.version, c.tags, got, err, c.want)
		}
	}
}

func TestImageString(t *testing.T) {
	for _, text := range []string{"oci://h/a/b-c", "oci://[::1]:5000/a:1.0.0"} {
		i, _, err := ParseImage(text)
		if err != nil || i.String() != text {
			t.Errorf("%s became %s, %v", text, i, err)
		}
	}
}
