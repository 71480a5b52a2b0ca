//go:build browser

package report

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/plan"
)

// driver uses the page as a reader does and writes what it saw into it.
const driver = `<script>
const shown = () => [...document.querySelectorAll(".entry")].filter(e => e.offsetParent !== null).map(e => e.querySelector("code").textContent);
const unfolded = () => document.querySelectorAll("details[open]").length;
const type = text => { search.value = text; search.dispatchEvent(new Event("input")); return shown(); };
const seen = {all: shown(), unfoldedAtFirst: unfolded()};
seen.found = type("deployment replicas");
seen.none = type("no such thing");
seen.sections = [...document.querySelectorAll("section")].filter(s => s.offsetParent !== null).length;
type("");
document.getElementById("open").click(); seen.unfolded = unfolded();
seen.values = [...document.querySelectorAll("td > span")].map(e => e.innerText);
document.getElementById("close").click(); seen.folded = unfolded();
seen.details = document.querySelectorAll("details").length;
window.dispatchEvent(new Event("beforeprint")); seen.printed = unfolded();
window.dispatchEvent(new Event("afterprint")); seen.afterPrinting = unfolded();
seen.dark = matchMedia("(prefers-color-scheme: dark)").matches;
seen.background = getComputedStyle(document.querySelector(".box, pre") || document.body).backgroundColor;
seen.wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
const out = document.createElement("pre"); out.id = "seen"; out.textContent = JSON.stringify(seen); document.body.append(out);
</script>`

// seen is what driver found.
type seen struct {
	All, Found, None []string
	UnfoldedAtFirst  int
	Unfolded, Folded int
	Details          int
	Printed          int
	AfterPrinting    int
	Sections         int
	Dark, Wide       bool
	Background       string
	Values           []string
}

// The page of a plan does in a browser what it promises: it searches, folds, follows
// the reader's choice of light or dark and fits the window. The test fails without
// Chromium: make tools installs it.
func TestPageInBrowser(t *testing.T) {
	c := readCase(t, "testdata/upgrade.txtar")
	var page bytes.Buffer
	if err := HTML(&page, c.plan); err != nil {
		t.Fatal(err)
	}
	light, dark := browse(t, page.String()), browse(t, page.String(), "--force-dark-mode", "--blink-settings=preferredColorScheme=0")
	if len(light.All) == 0 || light.Details == 0 {
		t.Fatalf("the page shows no steps: %+v", light)
	}
	if len(light.Found) == 0 || len(light.Found) == len(light.All) {
		t.Errorf("searching shows %q of %q", light.Found, light.All)
	}
	for _, name := range light.Found {
		if !strings.Contains(name, "Deployment") {
			t.Errorf("searching for a deployment shows %s", name)
		}
	}
	if len(light.None) != 0 {
		t.Errorf("searching for nothing that is there shows %q", light.None)
	}
	if light.Sections != 0 {
		t.Errorf("%d empty sections are shown where nothing is found", light.Sections)
	}
	if light.Unfolded != light.Details || light.Folded != 0 {
		t.Errorf("of %d foldable steps, expand all opens %d and collapse all leaves %d", light.Details, light.Unfolded, light.Folded)
	}
	if light.Printed != light.Details || light.AfterPrinting != light.Folded {
		t.Errorf("of %d foldable steps %d are printed unfolded, and %d are unfolded afterwards", light.Details, light.Printed, light.AfterPrinting)
	}
	if light.Wide {
		t.Error("the page is wider than the window")
	}
	if light.Dark || !dark.Dark || light.Background == dark.Background {
		t.Errorf("light is %v %s, dark is %v %s", light.Dark, light.Background, dark.Dark, dark.Background)
	}
	if diff := cmp.Diff(light.All, dark.All); diff != "" {
		t.Errorf("light and dark show other steps: %s", diff)
	}
}

// A narrow window shows everything: a path without a blank is broken. Blanks are shown as they are.
func TestNarrowPageInBrowser(t *testing.T) {
	c := readCase(t, "testdata/upgrade.txtar")
	long := strings.Repeat("spec.volumeClaimTemplates", 5)
	c.plan.Problems = append(c.plan.Problems, plan.Problem{What: long + " is immutable"})
	c.plan.Values = append(c.plan.Values, plan.Change{Path: long, From: "a", To: "b", Cause: plan.CauseValues})
	c.plan.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op == plan.OpPatch {
			s.Changes = append(s.Changes, plan.Change{Path: "data.motd", From: "one  two", To: "one two", Cause: plan.CauseChart})
		}
	})
	var page bytes.Buffer
	if err := HTML(&page, c.plan); err != nil {
		t.Fatal(err)
	}
	narrow := browse(t, page.String(), "--window-size=500,900")
	if narrow.Wide {
		t.Error("the page is wider than the window")
	}
	if !slices.Contains(narrow.Values, "one  two → one two") {
		t.Errorf("a change of blanks can't be seen in %q", narrow.Values)
	}
}

var result = regexp.MustCompile(`<pre id="seen">(.*?)</pre>`)

// browse opens the page with the driver in it.
func browse(t *testing.T, page string, flags ...string) seen {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("no browser: %v", err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "plan.html")
	if err := os.WriteFile(file, []byte(strings.Replace(page, "</body>", driver+"</body>", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // a browser that hangs
	defer cancel()
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--user-data-dir=" + filepath.Join(dir, "profile"), "--window-size=1000,900",
	}, flags...)
	args = append(args, "--dump-dom")
	out, err := exec.CommandContext(ctx, chromium, append(args, "file://"+file)...).Output()
	if err != nil {
		t.Fatalf("chromium: %v", err)
	}
	found := result.FindSubmatch(out)
	if found == nil {
		t.Fatalf("the driver wrote nothing:\n%s", out)
	}
	var s seen
	if err := json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &s); err != nil {
		t.Fatal(err)
	}
	return s
}
