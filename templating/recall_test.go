package templating_test

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/templating"
)

// varying calls every function whose result differs each time.
const varying = `{{ randAlphaNum 9 }} {{ randAlpha 9 }} {{ randAscii 9 }} {{ randNumeric 9 }} {{ randBytes 9 }} {{ randInt 0 999999999 }}
{{ shuffle "abcdefghijklmnopqrstuvwxyz" }} {{ uuidv4 }} {{ genPrivateKey "ed25519" }} {{ bcrypt "x" }} {{ htpasswd "u" "p" }} {{ encryptAES "key" "x" }}
{{ now | unixEpoch }} {{ now.Nanosecond }} {{ htmlDate "x" }}
{{ $ca := genCAWithKey "ca" 9 (genPrivateKey "ed25519") }}{{ $ca.Cert }}{{ (genSignedCertWithKey "c" nil nil 9 $ca (genPrivateKey "ed25519")).Cert }}
{{ (genSelfSignedCertWithKey "c" nil nil 9 (genPrivateKey "ed25519")).Cert }}`

func renderText(t *testing.T, name, text string, o templating.Options) string {
	t.Helper()
	c := &chart.Chart{Metadata: &chart.Metadata{Name: name}, Templates: []*chart.File{
		{Name: "templates/x.yaml", Data: []byte(text)},
		{Name: "templates/_f.tpl", Data: []byte(`{{ define "password" }}{{ randAlphaNum 20 }}{{ end }}`)},
	}}
	r, err := templating.Render(c, map[string]any{"Values": map[string]any{}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r.Files[0].Content
}

func TestRandomFunctionsGiveRendersThatAreComparedTheSame(t *testing.T) {
	recall := templating.NewRecall()
	first := renderText(t, "old", varying, templating.Options{Recall: recall})
	if again := renderText(t, "new", varying, templating.Options{Recall: recall}); again != first {
		t.Errorf("first\n%s\nand then\n%s", first, again)
	}
	if other := renderText(t, "new", varying, templating.Options{}); other == first {
		t.Error("without Recall they are the same, too: this test could not fail")
	}
}

// Two calls still give two results, and an additional call does not change results of calls
// elsewhere, or with other arguments.
func TestRandomFunctionsAreRecalledByTemplateCallAndArguments(t *testing.T) {
	recall := templating.NewRecall()
	before := renderText(t, "c", `{{ randAlphaNum 20 }}|{{ randAlphaNum 20 }}|{{ include "password" . }}`, templating.Options{Recall: recall})
	after := renderText(t, "c", `{{ randAlphaNum 20 }}|{{ randAlphaNum 20 }}|{{ include "password" . }}{{ $a := randAlphaNum 21 }}{{ $b := randAlphaNum 20 }}`,
		templating.Options{Recall: recall})
	if before != after {
		t.Errorf("before %s, after %s", before, after)
	}
	if before[:20] == before[21:41] || before[:20] == before[42:] {
		t.Errorf("two calls give one password: %s", before)
	}
}
