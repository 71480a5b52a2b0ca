package resolve

import "testing"

func TestNewer(t *testing.T) {
	for name, tc := range map[string]struct {
		used  string
		there []string
		devel bool
		want  string
	}{
		"a newer one":                 {"1.0.0", []string{"0.9.0", "1.2.0", "1.1.0"}, false, "1.2.0"},
		"the newest is used":          {"1.2.0", []string{"1.2.0", "1.1.0"}, false, ""},
		"a newer one is used":         {"2.0.0", []string{"1.2.0"}, false, ""},
		"a prerelease":                {"1.0.0", []string{"1.0.0", "1.1.0-rc.1"}, false, ""},
		"a prerelease with --devel":   {"1.0.0", []string{"1.0.0", "1.1.0-rc.1"}, true, "1.1.0-rc.1"},
		"only prereleases":            {"0.1.0", []string{"1.1.0-rc.1"}, false, ""},
		"from a prerelease":           {"1.0.0-rc.1", []string{"1.0.0"}, false, "1.0.0"},
		"another build of the same":   {"1.0.0+b1", []string{"1.0.0+b2"}, false, ""},
		"none":                        {"1.0.0", nil, false, ""},
		"versions that can't be read": {"1.0.0", []string{"x", "../y"}, false, ""},
		"the used one can't be read":  {"latest", []string{"1.0.0"}, false, ""},
		"an index that writes v":      {"1.0.0", []string{"v1.1.0"}, false, "v1.1.0"},
	} {
		if got := Newer(tc.used, tc.there, tc.devel); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if got := NewerTag("1.0.0", []string{"latest", "sha256-00.sig", "1.1.0_b.1", "v9.0.0"}, false); got != "1.1.0+b.1" {
		t.Errorf("of tags: %q", got)
	}
}
