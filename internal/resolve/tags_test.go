package resolve

import (
	"fmt"
	"strings"
	"testing"
)

func TestTags(t *testing.T) {
	tags := []string{"1.0.0", "latest", "1.10.0", "1.2.0_b.1", "2.0.0-rc.1", "v3.0.0", "1.2", "sha256-00.sig"}
	for _, c := range []struct {
		search Search
		want   string
	}{
		{Search{}, "[{1.10.0 1.10.0}]"},
		{Search{Devel: true}, "[{2.0.0-rc.1 2.0.0-rc.1}]"},
		{Search{Version: "~1.2"}, "[{1.2.0_b.1 1.2.0+b.1}]"},
		{Search{Version: "^3"}, "[]"},
		{Search{All: true}, "[{1.10.0 1.10.0} {1.2.0_b.1 1.2.0+b.1} {1.0.0 1.0.0} {latest } {v3.0.0 } {1.2 }]"},
		{Search{All: true, Version: "<1.3"}, "[{1.2.0_b.1 1.2.0+b.1} {1.0.0 1.0.0}]"},
	} {
		got, err := c.search.Tags(tags)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%+v: %v, %v, want %s", c.search, got, err, c.want)
		}
	}
	if _, err := (Search{Version: "one"}).Tags(tags); err == nil || !strings.Contains(err.Error(), "improper constraint") {
		t.Error(err)
	}
}
