package values

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files stands for the file system of a test.
type files map[string]string

func (f files) read(name string) ([]byte, error) {
	content, ok := f[name]
	if !ok {
		return nil, os.ErrNotExist
	}
	return []byte(content), nil
}

// The results below were checked against Helm 4.3.1.
func TestSources(t *testing.T) {
	type table = map[string]any
	type list = []any
	base := files{
		"base": "a: {b: 1, c: [1, {d: 2}, [3]], none: null}\ns: text\n",
		"more": "a: {b: 2}\ns: null\n",
		"text": "con,te=nt\n",
	}
	baseTable := func(change func(a table)) table {
		a := table{"b": 1.0, "c": list{1.0, table{"d": 2.0}, list{3.0}}, "none": nil}
		change(a)
		return table{"a": a, "s": "text"}
	}
	for _, tc := range []struct {
		why  string
		from Sources
		want table
	}{
		{"nothing is an empty table", Sources{}, table{}},
		{
			"later files win, tables merge, nulls stay",
			Sources{Files: []string{"base", "more"}},
			table{"a": table{"b": 2.0, "c": list{1.0, table{"d": 2.0}, list{3.0}}, "none": nil}, "s": nil},
		},
		{
			"--set-json comes before --set whatever the order of the flags",
			Sources{Set: []string{"a=1"}, JSON: []string{"a=2"}},
			table{"a": int64(1)},
		},
		{
			"the order is json, set, string, file, literal",
			Sources{Set: []string{"a=1,b=1,c=1,d=1"}, String: []string{"b=2,c=2,d=2"}, File: []string{"c=text,d=text"}, Literal: []string{"d=4"}},
			table{"a": int64(1), "b": "2", "c": "con,te=nt\n", "d": "4"},
		},
		{
			"types of --set",
			Sources{Set: []string{"a=1,b=-2,c=1.5,d=True,e=null,f=0,g=01,h=99999999999999999999,i="}},
			table{"a": int64(1), "b": int64(-2), "c": "1.5", "d": true, "e": nil, "f": int64(0), "g": "01", "h": "99999999999999999999", "i": ""},
		},
		{"--set-string keeps text", Sources{String: []string{"a=1,b={1,null},c=null"}}, table{"a": "1", "b": list{"1", "null"}, "c": "null"}},
		{
			"escapes in keys and values",
			Sources{Set: []string{`a\.b=x\,y,c=\\d,e\=f=1,g\[0\]=2`}},
			table{"a.b": "x,y", "c": `\d`, "e=f": int64(1), "g[0]": int64(2)},
		},
		{
			"lists of scalars",
			Sources{Set: []string{"a={1,x,true},b={},c={,}"}},
			table{"a": list{int64(1), "x", true}, "b": list{""}, "c": list{"", ""}},
		},
		{"an index fills the gap with nulls", Sources{Set: []string{"a[2]=x"}}, table{"a": list{nil, nil, "x"}}},
		{
			"indices into what a file gave",
			Sources{Files: []string{"base"}, Set: []string{"a.c[1].d=9,a.c[2][1]=8"}},
			baseTable(func(a table) { a["c"] = list{1.0, table{"d": int64(9)}, list{3.0, int64(8)}} }),
		},
		{
			"a scalar in a list makes room for a table",
			Sources{Files: []string{"base"}, Set: []string{"a.c[0].x=1"}},
			baseTable(func(a table) { a["c"] = list{table{"x": int64(1)}, table{"d": 2.0}, list{3.0}} }),
		},
		{"an index and no value empties nothing", Sources{Set: []string{"a[0]"}}, table{"a": list{}}},
		{"an unclosed index is passed over", Sources{Set: []string{"b=1,a[0"}}, table{"b": int64(1)}},
		{"a table in a new list element needs a value", Sources{Set: []string{"a[0].b="}}, table{"a": list{}}},
		{"an empty key is passed over", Sources{Set: []string{"=1,b=2"}}, table{"b": int64(2)}},
		{
			"json values in one argument",
			Sources{JSON: []string{`a={"k":[1,2.5,null]} ,b=  ,c[1]="x"`}},
			table{"a": table{"k": list{1.0, 2.5, nil}}, "b": nil, "c": list{nil, "x"}},
		},
		{"a whole json document merges", Sources{JSON: []string{`{"a":{"b":1}}`, ` {"a":{"c":2}}`}}, table{"a": table{"b": 1.0, "c": 2.0}}},
		{"literal takes the rest as it is", Sources{Literal: []string{`a.b[0]={x,\y}=,z`}}, table{"a": table{"b": list{`{x,\y}=,z`}}}},
		{"--set-file reads one file for each name", Sources{File: []string{"a={text,text}"}}, table{"a": list{"con,te=nt\n", "con,te=nt\n"}}},
		{"bytes that are not UTF-8 are replaced", Sources{Set: []string{"a=\xff"}}, table{"a": "\uFFFD"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, _, err := tc.from.Merge(base.read)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What Helm 4.3.1 refuses is refused, and the message says what is wrong.
func TestSourcesRefused(t *testing.T) {
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprintf("k%d[65536]=1", i)
	}
	for _, tc := range []struct {
		why  string
		from Sources
		want string
	}{
		{"no value", Sources{Set: []string{"a"}}, `key "a" has no value`},
		{"a comma instead of a value", Sources{Set: []string{"a,b=1"}}, `key "a" has no value`},
		{"a comma in a value", Sources{Set: []string{"a=1,b"}}, `parse --set: what follows the comma in the value of "a" is not KEY=VALUE; if the comma belongs to the value, write \, in quotes`},
		{"a comma in a nested value, and a dot", Sources{Set: []string{"a=1,b.c=2,d.e"}}, `in the value of "b.c" is not`},
		{"a comma in a value, and a bracket", Sources{Set: []string{"a=1,b[c]d"}}, `in the value of "a" is not`},
		{"a comma in a value, and more after a bracket", Sources{Set: []string{"a=1,b[0]c"}}, `in the value of "a" is not`},
		{"an index that is no number, in another key", Sources{Set: []string{"a=1,b[c]=2"}}, `in the value of "a" is not`},
		{"a comma in a value, and more", Sources{Set: []string{"a=1,b,c=2"}}, `write \, in quotes`},
		{"a list without end", Sources{Set: []string{"a={1,2"}}, "must end with }"},
		{"an index above the limit", Sources{Set: []string{"a[65537]=1"}}, "greater than the limit of 65536"},
		{"a negative index", Sources{Set: []string{"a[-1]=1"}}, "negative"},
		{"an index that is no number", Sources{Set: []string{"a[x]=1"}}, "not a number"},
		{"text after an index", Sources{Set: []string{"a[0]x=1"}}, `unexpected "x"`},
		{"31 dots", Sources{Set: []string{strings.Repeat("a.", 31) + "b=1"}}, "deeper than 30"},
		{"high indices that add up (a limit of our own)", Sources{Set: []string{strings.Join(many, ",")}}, "grow beyond"},
		{"indices in indices that add up", Sources{Set: []string{"a" + strings.Repeat("[65536]", 200) + "=1"}}, "grow beyond"},
		{"a scalar used as a table", Sources{Set: []string{"a=1,a.b=2"}}, "is a number, not a table"},
		{"a null used as a table", Sources{Set: []string{"a=null,a.b=2"}}, "is null, not a table"},
		{"a scalar used as a list", Sources{Set: []string{"a=1,a[0]=2"}}, "is a number, not a list"},
		{"json that is none", Sources{JSON: []string{"a={"}}, "parse --set-json"},
		{"a json document that is none", Sources{JSON: []string{"{a}"}}, "parse --set-json"},
		{"a missing file", Sources{Files: []string{"gone"}}, "read values file gone"},
		{"a missing file of --set-file", Sources{File: []string{"a=gone"}}, `parse --set-file: value of key "a"`},
		{"a literal without value", Sources{Literal: []string{"a"}}, `key "a" has no value`},
	} {
		t.Run(tc.why, func(t *testing.T) {
			_, _, err := tc.from.Merge(files{}.read)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}
