package release

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// Parts of records that Helm wrote say what the whole records say.
func TestPartsOfHelmsRecords(t *testing.T) {
	for _, helm := range []string{"helm3", "helm4"} {
		data, err := os.ReadFile("testdata/" + helm + ".json")
		if err != nil {
			t.Fatal(err)
		}
		whole := read(t, data)
		for _, p := range []Part{Sent, Outline, HookRuns} {
			// A byte at a time: no boundary of a buffer matters.
			r, err := ReadPart(iotest.OneByteReader(strings.NewReader(string(data))), p, 1<<20, new(MaxEntries))
			if err != nil {
				t.Fatal(err)
			}
			if r.ChartLabel() != whole.ChartLabel() || r.AppVersion() != whole.AppVersion() || r.Info.Status != whole.Info.Status ||
				r.Info.Description != whole.Info.Description || !r.Info.LastDeployed.Equal(whole.Info.LastDeployed) || len(r.Chart.Templates) > 0 {
				t.Errorf("%s: part %d is %+v", helm, p, r)
			}
			if p == Sent && (r.Manifest != whole.Manifest || len(r.Hooks) != len(whole.Hooks) || len(r.Config) != len(whole.Config)) {
				t.Errorf("%s: what was sent is %+v", helm, r)
			}
			if p == HookRuns && len(r.Hooks) != len(whole.Hooks) {
				t.Errorf("%s: the hooks are %+v", helm, r.Hooks)
			}
			if p != Sent && r.Manifest+r.Info.Notes != "" {
				t.Errorf("%s: the outline is %+v", helm, r)
			}
		}
	}
}

// An outline ends where nothing more is needed, even within the chart: what follows, such as its files, is
// never read.
func TestOutlineEndsEarly(t *testing.T) {
	for _, beginning := range []string{
		`{"name":"web","info":{"status":"deployed","notes":"x"},"chart":{"metadata":{"name":"web"},"files":[`,
		`{"name":"web","chart":{"metadata":{"name":"web"},"files":["x"]},"info":{"status":"deployed"}`,
		`{"name":"web","info":{"status":"deployed","metadata":1},"chart":{"lock":{"metadata":{}},"metadata":{"name":"web","info":0},`,
	} {
		r, err := ReadPart(io.MultiReader(strings.NewReader(beginning), iotest.ErrReader(errors.New("read on"))), Outline, 1<<10, new(MaxEntries))
		if err != nil || r.Name != "web" || r.Info.Status != StatusDeployed || r.ChartLabel() != "web-" {
			t.Errorf("%s: %+v, %v", beginning, r, err)
		}
	}
}

// A part is found wherever it is, whatever surrounds it, and nothing beyond the limit
// is kept.
func TestParts(t *testing.T) {
	long := strings.Repeat(`\"`, 20_000) + `\\`
	for name, c := range map[string]struct{ in, status, err string }{
		"behind all else":        {`{"manifest":"` + long + `","hooks":[{"a":"}]"}],"x":{"info":{"status":"no"}},"chart":null,"info":{"status":"failed"}}`, "failed", ""},
		"numbers and words":      {`{"a":1,"b":true,"c":null,"d":-1.5e3 ,"info":{"x":1,"status":"failed"},"chart":{"metadata":null}}`, "failed", ""},
		"spaces":                 {" {\n\"info\" : { \"status\" :\t\"failed\" } , \"chart\" : { } }", "failed", ""},
		"nothing":                {`{}`, "", ""},
		"empty objects":          {`{"info":{},"chart":{}}`, "", ""},
		"a description too long": {`{"info":{"description":"` + strings.Repeat("x", 2000) + `"}}`, "", ErrTooLarge.Error()},
		"a name too long":        {`{"` + strings.Repeat("x", 2000) + `":1}`, "", ErrTooLarge.Error()},
		"nesting without end":    {`{"info":{"status":` + strings.Repeat("[", 900), "", io.ErrUnexpectedEOF.Error()},
		"cut off":                {`{"info":{"status":"fai`, "", io.ErrUnexpectedEOF.Error()},
		"another type":           {`{"info":"x"}`, "", "cannot unmarshal string"},
		"a list":                 {`[]`, "", "it begins with '['"},
		"no field":               {`{1:2}`, "", "invalid character '1'"},
		"no colon":               {`{"a" 1}`, "", "invalid character '1'"},
	} {
		r, err := ReadPart(strings.NewReader(c.in), Outline, 1000, new(MaxEntries))
		switch {
		case c.err == "" && (err != nil || string(r.Info.Status) != c.status):
			t.Errorf("%s: %+v, %v", name, r, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: error %v, want one with %q", name, err, c.err)
		}
	}
}

// A part is never written instead of the whole record, nor taken for it.
func TestPartsAreNotWritten(t *testing.T) {
	for _, p := range []Part{Sent, Outline} {
		r, err := ReadPart(strings.NewReader(`{"info":{"status":"deployed"}}`), p, 1000, new(MaxEntries))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(r.WithStatus(StatusFailed, "")); err == nil {
			t.Errorf("part %d was written", p)
		}
		if _, err := r.Objects(); (err == nil) != (p == Sent) {
			t.Errorf("objects of part %d: %v", p, err)
		}
	}
}
