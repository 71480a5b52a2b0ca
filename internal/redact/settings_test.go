package redact

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/haystack"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

var tokens = regexp.MustCompile(`\(sensitive [0-9a-f]{4}…\)`)

// The passwords of configuration files are found; references, structures, prose and code are none.
func TestPasswordsInConfigurationFiles(t *testing.T) {
	for text, password := range map[string]string{
		`{"db":{"user":"app","password":"s3 cret"}}`:                                      "s3 cret",
		`{"password" : "a\"b\\", "token": 12345, "n": 1}`:                                 `a\"b\\,12345`,
		`{"app": "{\"password\":\"a\\\"b\",\"n\":1}"}`:                                    `a\\\"b`,
		"{'password': 'x'}":                                                               "x",
		"db:\n  password: x # y\n  user: app\r\n  token: z\r\n":                           "x,z",
		"- password: 'x y'\n- token: \"z\"":                                               "x y,z",
		"[db]\npassword = x\nuser = app\ntoken= y":                                        "x,y",
		"a=b\ndb.password=Xy7&k;Q|2)\ntoken=~x\nsecret=<x\npwd= \"y\"":                    "Xy7&k;Q|2),~x,<x,y",
		"A=b\nTOKEN=$(cat x)\nPWD=\"$(cat x)\"\nSECRET=$1\nPASSWORD=\"$pw\"\nDSN=read(x)": "",
		"db.password: x\ndb.token = y":                                                    "x,y",
		"password: s3cr3t:x=y":                                                            "s3cr3t:x=y",
		"password: |\n  x\ntoken: *x\nsecret: {a: b}":                                     "",
		"{\"token\": 12,\n\"password\": 34}":                                              "12,34",
		"\"db\":\n- 'password': hunter\n  \"token\" : 12a":                                "hunter,12a",
		"{\n\"password\": null,\n\"token\": x}":                                           "",
		`{"password": null, "token": true, "secret": ["x"]}`:                              "",
		`{"password": password, "token": e()}`:                                            "",
		`{"password": "", "token": "${TOKEN}"}`:                                           "",
		"password: {{ .password }}\ntoken: \"{{ .token }}\"":                              "",
		"password: ${PASSWORD}\ntoken: $TOKEN\nsecret: ~":                                 "",
		"# password: x\n; token = x":                                                      "",
		"Token: the one to log in with\nno token: x":                                      "",
		"password = read(x)\ntoken := x\nif password == x:":                               "",
		"this.token = x;\n  password: password,":                                          "",
		"token:x\npassword:\n  x":                                                         "",
		"passwordKey: x\nexistingSecret: y":                                               "",
		"password: \"not closed\ntoken: x":                                                "x",
		"password:":                                                                       "",
	} {
		expectFound(t, func(s string) []haystack.Span { return settings(s, false) }, text, password)
	}
	for text, password := range map[string]string{
		`it sent {"password":"x","token":12}`: "x,12",
		`it sent {"password":"x; y"}`:         "x; y",
		"token: none\npassword = x":           "",
		`unknown "token": required`:           "",
	} {
		expectFound(t, func(s string) []haystack.Span { return settings(s, true) }, text, password)
	}
}

// What a document in a ConfigMap has under a credential's name is masked in its text, however short it is, and, unless it
// is, wherever else it occurs. Single lines can be enough, as in a properties file.
func TestCredentialsInDocumentsOfConfigMaps(t *testing.T) {
	for name, c := range map[string]struct{ secret, text, masked string }{
		"JSON":                    {"canary-1", `{"db":{"password":"canary-1","token":"12"},"port":8080}`, `{"db":{"password":"X","token":"X"},"port":8080}`},
		"YAML":                    {"canary-1", "# of db\ndb: {user: app}\nlogin:\n  password: canary-1\n  token: '12' # y\n", "# of db\ndb: {user: app}\nlogin:\n  password: X\n  token: 'X' # y\n"},
		"YAML on one line":        {"canary-1", "db: {user: app, password: canary-1}", "db: {user: app, password: X}"},
		"the second document":     {"canary-1", "a: b\n---\nprivateKey: |\n  canary-1\n", "a: b\n---\nprivateKey: |\n  X\n"},
		"a word of several":       {"canary-1 and more", "db:\n  password: canary-1 and more\n", "db:\n  password: X\n"},
		"a number as it is":       {"012345678", "token: 012345678\n", "token: X\n"},
		"a key in quotes":         {"canary-1 and more", "\"db\":\n  \"password\": canary-1 and more\n", "\"db\":\n  \"password\": X\n"},
		"lines of JSON":           {"canary-1", "{\"a\":1}\n{\"password\":\"canary-1\"}\n", "{\"a\":1}\n{\"password\":\"X\"}\n"},
		"an alias":                {"canary-1", "x: &x canary-1\ndb: {password: *x}\n", "x: &x X\ndb: {password: *x}\n"},
		"a variable":              {"canary-1", "kind: Pod\nenv:\n- name: DB_PASSWORD\n  value: canary-1\n", "kind: Pod\nenv:\n- name: DB_PASSWORD\n  value: X\n"},
		"an option":               {"canary-1", `{"args":["--password","canary-1"]}`, `{"args":["--password","X"]}`},
		"a registry":              {"Y2FuYXJ5LTE=", `{"auths":{"r":{"auth":"Y2FuYXJ5LTE="}}}`, `{"auths":{"r":{"auth":"X"}}}`},
		"INI":                     {"canary-1", "[db]\npassword = canary-1\nuser = app\n", "[db]\npassword = X\nuser = app\n"},
		"key=value":               {"Xy7&canary-1", "db.user=app\ndb.password=Xy7&canary-1\n", "db.user=app\ndb.password=X\n"},
		"a blank before a value":  {"canary-1", "db.user=app\ndb.password= canary-1\n", "db.user=app\ndb.password= X\n"},
		"a properties file":       {"canary-1", "db.user: app\ndb.password: canary-1\n", "db.user: app\ndb.password: X\n"},
		"a document in another":   {"canary-1", `{"app":"db:\n  password: canary-1\n"}`, `{"app":"db:\n  password: X\n"}`},
		"what is not to be found": {"", "db:\n  passwordKey: canary\n  token: ${TOKEN}\n  secret: true\n", "db:\n  passwordKey: canary\n  token: ${TOKEN}\n  secret: true\n"},
		"a script":                {"", "set -e\nif [ $a: ]; then token=$(cat x); fi\necho password: none given\n", "set -e\nif [ $a: ]; then token=$(cat x); fi\necho password: none given\n"},
		"its variable":            {"", "token = token\nuse(token)\n", "token = X\nuse(token)\n"},
	} {
		p := &plan.Plan{Document: plan.Document{Stages: []plan.Stage{{Waves: []plan.Wave{{Steps: []plan.Step{{
			Object: manifest.ID{Kind: "ConfigMap", Name: "web"}, Why: "it was " + c.secret,
			Body: &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap", "data": map[string]any{"file": c.text}}},
		}}}}}}}}
		step := Plan(p).Stages[0].Waves[0].Steps[0]
		got, _, _ := unstructured.NestedString(step.Body.Object, "data", "file")
		if got = tokens.ReplaceAllString(got, "X"); got != c.masked {
			t.Errorf("%s: %q, want %q", name, got, c.masked)
		}
		if c.secret != "" && strings.Contains(step.Why, c.secret) {
			t.Errorf("%s: elsewhere it is shown as %q", name, step.Why)
		}
	}
}

// The credentials in a document that a Secret holds are secrets of their own, however the document begins.
func TestCredentialsInDocumentsOfSecrets(t *testing.T) {
	for _, text := range []string{
		"\"db\":\n  \"password\": two words\n", "my app:\n  password: two words\n", "%YAML 1.1\n---\npassword: two words\n",
		"password : two words\n", "\ufeffpassword: two words\n",
	} {
		found := newSecrets()
		found.add(text)
		if !found.added["two words"] {
			t.Errorf("%q: only %q", text, slices.Sorted(maps.Keys(found.added)))
		}
	}
}

// What is found within a credential is limited: each of these texts has thousands of credentials within others, and the
// needles for all of them would take gigabytes.
func TestCredentialsWithinCredentials(t *testing.T) {
	for _, part := range []string{"password=", "password=- ", "--- token a:b ", "password: ", "://a:password=", "password=--- "} {
		for _, size := range []int{maxParsed, 300 << 10} {
			text := strings.Repeat(part, size/len(part))
			found := newSecrets()
			found.addCredentials([]any{map[string]any{"password": text, "x": text}, text})
			total := 0
			for form := range found.plain {
				total += len(form)
			}
			if limit := 30 * size; total > limit {
				t.Errorf("%q: %d bytes of needles, more than %d", part, total, limit)
			}
		}
	}
}

// A word that may be a type, or the name of a method, is no reason to mask it elsewhere; where it is a credential's value it
// is masked.
func TestWordsAreMaskedInPlaceOnly(t *testing.T) {
	for _, c := range []struct{ text, word, masked string }{
		{"export interface Login {\n  user: string\n  password: string\n}", "string", "export interface Login {\n  user: string\n  password: X\n}"},
		{"class Login:\n    secret: bytes\n", "bytes", "class Login:\n    secret: X\n"},
		{"db:\n  auth: postgres\n  token: x\n", "postgres", "db:\n  auth: postgres\n  token: X\n"},
	} {
		m := NewValuesMask(map[string]any{"file": c.text}, nil)
		if masked, _ := m.Tree(c.text).(string); tokens.ReplaceAllString(masked, "X") != c.masked {
			t.Errorf("%q is shown as %q", c.text, masked)
		}
		if got := m.Text("type: " + c.word); strings.Contains(got, tokenOpen) {
			t.Errorf("%s is masked elsewhere: %s", c.word, got)
		}
	}
	values := map[string]any{"auth": "internal", "registry": map[string]any{"auth": "YTpi"}}
	m := NewValuesMask(values, nil)
	if got, _ := json.Marshal(m.Tree(values)); strings.Count(string(got), tokenOpen) != 2 {
		t.Errorf("shown as %s", got)
	}
	if got := m.Text("internal YTpi"); tokens.ReplaceAllString(got, "X") != "internal X" {
		t.Errorf("elsewhere they are shown as %s", got)
	}
	if c := m.change(plan.Change{Path: "a.auth", From: "internal", To: "external"}, false, nil); !holdsToken(c.From) || !holdsToken(c.To) {
		t.Errorf("the change is shown as %v", c)
	}
}

// A document keeps its form, so that a plan can compare it inside.
func TestMaskedDocumentsStayDocuments(t *testing.T) {
	m := NewValuesMask(nil, nil)
	masked, _ := m.Tree(`{"password":"a\"b","n":1}`).(string)
	var fields map[string]any
	if err := json.Unmarshal([]byte(masked), &fields); err != nil || fields["n"] != 1.0 || !holdsToken(fields["password"]) {
		t.Errorf("%s: %v", masked, err)
	}
}
