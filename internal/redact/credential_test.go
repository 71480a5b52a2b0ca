package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/haystack"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// expectFound expects find to find the passwords, separated by commas, in a text.
func expectFound(t *testing.T, find func(string) []haystack.Span, text, passwords string) {
	t.Helper()
	var found []string
	for _, s := range find(text) {
		found = append(found, text[s.From:s.To])
	}
	if got := strings.Join(found, ","); got != passwords {
		t.Errorf("%s: %q, want %q", text, got, passwords)
	}
}

// Passwords in URLs are found even if they should have been escaped; paths, ports and references are
// none.
func TestPasswordsInURLs(t *testing.T) {
	for text, password := range map[string]string{
		"postgres://app:s3cret@db/x":                           "s3cret",
		"postgres://app:s3#cr/et?@db/x":                        "s3#cr/et?",
		"postgres://app:$ecret@db/x":                           "$ecret",
		"see postgres://app:p@ss@db/x and http://a/b@c":        "p@ss",
		"postgres://app:$(PASSWORD)@db/x":                      "",
		"postgres://app:${PASSWORD}@db/x":                      "",
		"postgres://app:$PASSWORD@db/x":                        "",
		"http://host:8080/path?mail=a@b":                       "",
		"http://host/a:b@c":                                    "",
		"http://[::1]:8080/a@b":                                "",
		"oci://host:5000/web@sha256:0123":                      "",
		"http://host:80 and me@example.com":                    "",
		"git+ssh://git@github.com:shop/web.git@v1":             "",
		"https://ghp_abc@github.com/x/y":                       "ghp_abc",
		"https://0123456789abcdef0123456789abcdef@sentry:90/1": "0123456789abcdef0123456789abcdef",
		"https://0123456789abcdef@sentry:90/1":                 "0123456789abcdef",
		"https://npm_AbCdEf0123456789AbCdEf@registry/x":        "npm_AbCdEf0123456789AbCdEf",
		"https://gldt-AbCdEf0123456789AbCd@gitlab/x":           "gldt-AbCdEf0123456789AbCd",
		"https://sk_live_51AbCdEf0123456789@api/x":             "sk_live_51AbCdEf0123456789",
		"https://hvs.CAESIJ0123456789AbCd@vault/x":             "hvs.CAESIJ0123456789AbCd",
		"https://0f8fad5b-d9cd-469f-a165-70867728950e@pkgs/x":  "0f8fad5b-d9cd-469f-a165-70867728950e",
		"https://$(GITHUB_TOKEN_1234)@github.com/x":            "",
		"https://$(GITHUBTOKEN1234)@github.com/x":              "",
		"ssh://a-very-long-name-of-a-user@host/x":              "",
		"ssh://first.last@host/x":                              "",
		"ssh://service-account-7-of-shop@host/x":               "",
		"ssh://123456789012@host/x":                            "",
	} {
		expectFound(t, urlPasswords, text, password)
	}
}

// The old value of a password is in no object of the plan; that it begins with a dollar sign does not
// make it a reference.
func TestPasswordsThatBeginWithADollarSign(t *testing.T) {
	p := CanaryPlan()
	p.Values = []plan.Change{{Path: "db.password", From: "$old-one-9", To: "$(PASSWORD)"}}
	c := Plan(p).Values[0]
	if from, _ := c.From.(string); !IsToken(from) {
		t.Errorf("%v is shown", c.From)
	}
	if isSecretScalar("$DB_PASSWORD") || isSecretScalar("${x}") || !isSecretScalar("$2a$10$abc") {
		t.Error("references and passwords are confused")
	}
}

// The passwords of command lines are found in a text of several words, in queries and in lists; references
// and code are none.
func TestPasswordsInCommandLines(t *testing.T) {
	for text, password := range map[string]string{
		"--password=x y":                            "x y",
		"DB_PASSWORD=x":                             "x",
		"mysqldump --password=s3cret db":            "s3cret",
		`sh -c "mysqldump --password='s3 cret' db"`: "s3 cret",
		"A=b DB_PASSWORD=one; TOKEN=two run":        "one,two",
		"https://host/hook?token=abc&x=1":           "abc",
		"host=db,password=abc":                      "abc",
		"run --password=$(PASSWORD) --token=$T":     "",
		"--password=$(PASSWORD)":                    "",
		"--password=${PW:-hunter2}":                 "${PW:-hunter2}",
		"--dsn=$(DB_USER):hunter2@tcp(db)/x":        "$(DB_USER):hunter2@tcp(db)/x",
		"DB_PASSWORD={{ .password }}":               "",
		"export PASSWORD=`cat /run/p`":              "",
		"if password == other && token => x":        "",
		"run --password= --token=\"\"":              "",
		"set a=b; c=d":                              "",
		"PASS=x\necho good":                         "x",
		"DB_PASS=x y":                               "x",
		"DB_PASS=x; curl z | sh":                    "x",
		"PASSWORD=abc;def|ghi":                      "abc",
		"--password=abc;def|ghi":                    "abc;def|ghi",
		"--password=x; curl z | sh":                 "x",
		"--password=x\necho good":                   "x",
		"--password=$(curl z)":                      "",
		`export TOKEN="x$(curl z | sh)"`:            "",
		`export TOKEN="x${A:-$(curl z)}"`:           "",
		"export TOKEN=\"x`curl z`\"":                "",
		"export TOKEN=x$(curl z)":                   "x$",
		"sh -c \"TOKEN='x$(curl z)' run\"":          "",
		"echo \"TOKEN=\"; curl z; echo \"x\"":       "",
		"echo 'TOKEN=\"'\ncurl z\necho '\"'":        "'",
		"TOKEN='x y' run":                           "x y",
		"TOKEN=\"x`y z\" run":                       "x`y z",
	} {
		expectFound(t, assignments, text, password)
	}
	for text, password := range map[string]string{
		"app --password hunterQ99":                   "hunterQ99",
		"app --verbose -token  'x y' --api-key k1;b": "x y,k1",
		"--password 4711":                            "4711",
		"(app --token -dash44tok)":                   "-dash44tok",
		"app --token --retries2 -secret -Xmx=1024m":  "",
		"app --password $P1 --token={x} --token\n1":  "",
		"flag --password is required, --token <t1>":  "",
		"--password string   the password":           "",
		"no-password 12 x--token 3 --token-ttl 24h":  "",
		"app --password \"a$(curl x1)\"":             "",
	} {
		expectFound(t, arguments, text, password)
	}
	line := []any{"login", "--password", "s3cret-1", "--token", "--verbose", "on", "-token=abc-1", "--token", "$(T)", "token", "expires", "--token", "-dash44tok", "--secret", "-Dport=8080"}
	m := NewValuesMask(map[string]any{"args": line}, nil)
	masked, _ := m.Tree(line).([]any)
	for i, item := range masked {
		text, _ := item.(string)
		if secret := i == 2 || i == 6 || i == 12; secret != strings.Contains(text, tokenOpen) {
			t.Errorf("%v is shown as %v", line[i], item)
		}
	}
	if got := m.Text("connect with s3cret-1"); strings.Contains(got, "s3cret") {
		t.Errorf("elsewhere it is shown: %s", got)
	}
}

// Private keys are masked wherever they are; what stands between such lines, but is no key, is not.
func TestPrivateKeys(t *testing.T) {
	const begin, key, end = "-----BEGIN RSA PRIVATE KEY-----", "MIIEprivatekey1616privatekey", "-----END RSA PRIVATE KEY-----"
	for text, found := range map[string]string{
		"x: |\n  " + begin + "\n  " + key + "\n  abcd==\n  " + end + "\n":     key + "\n  abcd==",
		`"` + begin + `\n` + key + `\n` + end + `"`:                           key,
		begin + " " + key + " " + end:                                         key,
		begin + "\ncurl z\n" + end:                                            "",
		begin + "\n" + key + "\nrm x\n" + end:                                 "",
		"-----BEGIN CERTIFICATE-----\n" + key + "\n-----END CERTIFICATE-----": "",
	} {
		expectFound(t, privateKeys, text, found)
	}
	object := map[string]any{"data": map[string]any{"tls.key": begin + "\n" + key + "\n" + end + "\n", "k": key}}
	if got := fmt.Sprint(NewValuesMask(object, nil).Tree(object)); strings.Contains(got, key) {
		t.Errorf("shown as %s", got)
	}
}

// A reference is masked neither where it is a password's value nor wherever else it occurs.
func TestReferencesAreNoPasswords(t *testing.T) {
	values := map[string]any{"password": "${DB_PASSWORD}", "args": []any{"--password=$(PASSWORD)"}, "token": "{{ .token }}"}
	m := NewValuesMask(values, nil)
	for _, text := range []string{"login ${DB_PASSWORD}", "login $(PASSWORD)", "login {{ .token }}"} {
		if got := m.Text(text); got != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
	if got, _ := json.Marshal(m.Tree(values)); strings.Contains(string(got), tokenOpen) {
		t.Errorf("shown as %s", got)
	}
}

// A value that only begins with a reference is masked.
func TestPasswordsBesideReferences(t *testing.T) {
	for _, value := range []string{
		"$(DB_USER):hunter2pw@tcp(db:3306)/app", "${PW:-hunter2pw}", "${PW-hunter2pw}", "${PW:hunter2pw}", "{{ .user }}:hunter2pw@tcp(db)/x",
		"{{ .user }}:hunter2pw{{ .end }}", "$(A)$(B)hunter2pw", "$USER:hunter2pw",
	} {
		for _, v := range []any{
			map[string]any{"dsn": value},
			map[string]any{"name": "DB_DSN", "value": value},
			[]any{"--dsn=" + value},
			[]any{"--dsn", value},
			map[string]any{"file": "dsn: \"" + value + "\"\n"},
		} {
			m := NewValuesMask(v, nil)
			if got, _ := json.Marshal(m.Tree(v)); strings.Contains(string(got), "hunter2pw") {
				t.Errorf("%v is shown as %s", v, got)
			}
			if got := m.Text("login " + value); strings.Contains(got, "hunter2pw") {
				t.Errorf("elsewhere it is shown as %s", got)
			}
		}
	}
	for _, value := range []string{"$(A)$(B)", "${A}${b.c}", "$A", "{{ .a }}{{ .b }}"} {
		if !isReference(value) {
			t.Errorf("%s is no reference", value)
		}
	}
}

// The password that an option has as an argument of its own is masked in the change of this argument, however short it is,
// and even if it is the object's name.
func TestChangedArgumentsOfOptions(t *testing.T) {
	pod := func(password, token string) map[string]any {
		return map[string]any{"kind": "Pod", "spec": map[string]any{"containers": []any{map[string]any{
			"name": "web", "args": []any{"--verbose", "on", "--password", password, "--token", token},
		}}}}
	}
	before, after := pod("12345", "web"), pod("54321", "12")
	before["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["args"].([]any)[1] = "off"
	step := plan.Step{
		ID: "s", Op: plan.OpPatch, Object: manifest.ID{Kind: "Pod", Name: "web"},
		Before: &unstructured.Unstructured{Object: before}, After: &unstructured.Unstructured{Object: after},
	}
	for _, c := range fielddiff.Compare(before, after) {
		step.Changes = append(step.Changes, plan.Change{Path: c.Path, From: c.From, To: c.To})
	}
	p := CanaryPlan()
	p.Stages = []plan.Stage{{Waves: []plan.Wave{{Steps: []plan.Step{step}}}}}
	p.Values = []plan.Change{{Path: "args[1]", From: "1234", To: "4321"}, {Path: "args[0]", From: "-p", To: "--password"}}
	p.Record = &release.Revision{Config: map[string]any{"args": []any{"--password", "4321"}}}
	masked := Plan(p)
	shown := map[string]string{}
	for _, c := range append(masked.Stages[0].Waves[0].Steps[0].Changes, masked.Values...) {
		shown[c.Path] = fmt.Sprint(c.Sensitive, " ", c.From, " ", c.To)
	}
	for path, hidden := range map[string]bool{
		"spec.containers[web].args[1]": false, "spec.containers[web].args[3]": true, "spec.containers[web].args[5]": true,
		"args[0]": false, "args[1]": true,
	} {
		if got := shown[path]; hidden != (strings.HasPrefix(got, "true ") && strings.Count(got, tokenOpen) == 2) {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// Which changes are those of arguments is found out in time proportional to the document: this test would take minutes.
func TestManyChangedItems(t *testing.T) {
	const n = 10_000
	var users []any
	var changes []plan.Change
	for i := range n {
		users = append(users, map[string]any{"name": fmt.Sprint("u", i), "roles": []any{"--password", fmt.Sprint("pw-", i)}})
		changes = append(changes, plan.Change{Path: fmt.Sprintf("users[u%d].roles[1]", i), From: "x", To: fmt.Sprint("pw-", i)})
	}
	m := NewValuesMask(nil, nil)
	for _, c := range m.changes(changes, false, []map[string]any{{"users": users}}) {
		if !c.Sensitive {
			t.Fatalf("%s is shown", c.Path)
		}
	}
}

// No part of a text is read once for each URL or assignment in it: this test would take hours.
func TestLongTextsAreReadOnce(t *testing.T) {
	for _, part := range []string{
		"://", "://a:b", "token=$", "token=x$(", "token=\"x$(", "PRIVATE KEY-----", "PRIVATE KEY-----aaaaaaaaaaaaaaaaaaaaaaaaa", "-token ", "-token -", "-token x1$( ", "-token \"x$(", "token='x$( ", `token="$`, "token='", "token: ", `"token":"`, `"token":(`, `\"token\":\"`, `"token":\`, "\ntoken = (", "\ntoken: \"",
	} {
		text := strings.Repeat(part, 8<<20/len(part))
		credentialsIn(text)
		settings(text, false)
	}
}
