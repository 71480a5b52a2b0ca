package resolve

import (
	"errors"
	"slices"
	"testing"
)

func TestChoose(t *testing.T) {
	have := []string{"1.0.0+b2", "1.0.0", "2.0.0-rc.1", "1.3.1", "v1.2.0", "1.0.0+b10", "bad", "0.9.0"}
	for _, tc := range []struct {
		why  string
		w    Wanted
		want string // or the error
	}{
		{"the newest stable", Wanted{}, "1.3.1"},
		{"latest is that", Wanted{Version: "latest"}, "1.3.1"},
		{"the newest of all", Wanted{Devel: true}, "2.0.0-rc.1"},
		{"a range", Wanted{Version: ">=1 <1.3"}, "v1.2.0"},
		{"hyphens", Wanted{Version: "1.2 - 1.3"}, "1.3.1"},
		{"wildcards", Wanted{Version: "1.x"}, "1.3.1"},
		{"a loose version is a range", Wanted{Version: "1.2"}, "v1.2.0"},
		{"exact, with a v or not", Wanted{Version: "1.2.0"}, "v1.2.0"},
		{"exact, build and all", Wanted{Version: "1.0.0+b2"}, "1.0.0+b2"},
		{"written the same, whatever it is", Wanted{Version: "bad"}, "bad"},
		{"another build is another version", Wanted{Version: "1.0.0+other"}, "there is no version 1.0.0+other; there is 1.0.0+b2, 1.0.0+b10, 1.0.0"},
		{"a dependency takes any build", Wanted{Version: "1.0.0+other", Range: true}, "1.0.0+b2"},
		{"a range does not meet prereleases", Wanted{Version: ">1.3.1"}, "there is no version >1.3.1; there is 2.0.0-rc.1, 1.3.1, v1.2.0"},
		{"unless it names one", Wanted{Version: ">1.3.1-0"}, "2.0.0-rc.1"},
		{"the nearest are named", Wanted{Version: "1.3.0"}, "there is no version 1.3.0; there is 1.3.1, v1.2.0, 1.0.0+b2"},
		{"neither", Wanted{Version: "one"}, `"one" is neither a version nor a range of versions: improper constraint: "one"`},
	} {
		i, err := Choose(have, tc.w)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = have[i]
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.why, got, tc.want)
		}
	}
}

// A chart with nothing but prereleases is distinguished from one with nothing.
func TestChooseWithoutStable(t *testing.T) {
	_, err := Choose([]string{"1.0.0-rc.1"}, Wanted{})
	if missing, ok := errors.AsType[*NoVersionError](err); !ok || !missing.Prereleases || err.Error() != "there are only prereleases (1.0.0-rc.1); --devel admits them" {
		t.Error(err)
	}
	if _, err := Choose(nil, Wanted{}); err == nil || err.Error() != "there is no stable version" {
		t.Error(err)
	}
}

func TestDescending(t *testing.T) {
	have := []string{"x", "1.0.0", "1.0.0-a", "v2", "y", "1.0.0+1"}
	if got := Descending(have); !slices.Equal(got, []int{3, 5, 1, 2, 0, 4}) {
		t.Error(got)
	}
}
