//go:build cluster

package flux_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

const (
	// fleetReleases is how many HelmReleases each cluster of the fleet has.
	fleetReleases = 200
	// fleetMemory is the most that a plan of them may take, in bytes.
	fleetMemory = 300e6
	// commentBytes is how long a comment on GitHub may be, with room to spare.
	commentBytes = 65_000
)

// fleetPlan is what a pull request's job runs.
var fleetPlan = []string{"plan", "many", "--flux", "clusters/prod", "--against-ref", "main", "--offline", "--plain-http", "-o", "markdown"}

// Check 53 of FLUX.md: the comment on a change to half of 200 HelmReleases fits, begins with what
// changes, and takes little memory to write; it is the same however many are planned in parallel.
func TestCheck53PlanOfAFleetIsACommentWithWhatChangesFirst(t *testing.T) {
	dir, environment := makeFleet(t)
	t.Chdir(dir)
	u := clustertest.MeasureWithin(t, clustertest.Limits{MaxRSS: fleetMemory}, environment, clustertest.Program(t), fleetPlan...)
	if u.ExitCode != 0 {
		t.Fatalf("exit code %d\n%s", u.ExitCode, u.Stderr)
	}
	if len(u.Stdout) > commentBytes {
		t.Errorf("the comment has %d bytes", len(u.Stdout))
	}
	changed, idle := map[string]string{"app-010": "uninstall", "app-020": "uninstall", "renamed": "uninstall, then install"}, 0
	for i := range fleetReleases {
		name := fmt.Sprintf("app-%03d", i)
		switch {
		case changed[name] != "":
		case i%3 == 0, i%4 == 3:
			changed[name] = "upgrade"
		case i%5 == 1:
			idle++
		}
	}
	title := fmt.Sprintf("### Plan of %d releases: %d change, %d not released now\n", fleetReleases+1, len(changed), idle)
	if !strings.Contains(u.Stdout, title) {
		t.Errorf("the comment is not titled %q", title)
	}
	rows := regexp.MustCompile("(?m)^\\| (`apps/.*?`(?:<details>.*?</details>)?) \\| (.*?) \\|").FindAllStringSubmatch(u.Stdout, -1)
	details := regexp.MustCompile("(?m)^<details><summary><code>apps/(.*?)</code>").FindAllStringSubmatch(u.Stdout, -1)
	if len(rows) < 10 || len(details) < 5 {
		t.Fatalf("%d rows, %d details", len(rows), len(details))
	}
	told, others := 0, 0 // releases of which the same is said share a row
	for i, row := range rows {
		for _, name := range regexp.MustCompile("`apps/(.*?)`").FindAllStringSubmatch(row[1], -1) {
			told++
			switch want := changed[name[1]]; {
			case want == "":
				others++
			case want != row[2] || others > 0:
				t.Errorf("row %d has %s: %s behind %d releases that do not change, want %q", i+1, name[1], row[2], others, want)
			}
		}
	}
	if told < len(changed) {
		t.Errorf("%d releases are in the table, and %d change", told, len(changed))
	}
	if !strings.Contains(u.Stdout, "Secret apps/database is not known") {
		t.Error("the comment does not say which Secret is not known")
	}
	alone := clustertest.Measure(t, environment, clustertest.Program(t), append(fleetPlan, "--jobs", "1")...)
	if alone.Stdout != u.Stdout {
		t.Error("one at a time, another comment comes out")
	}
}

// BenchmarkFleet measures how long the plan takes, with the registry's charts in the cache (make
// bench). It fails when the goal is missed, which can happen on a busy machine.
func BenchmarkFleet(b *testing.B) {
	const goal = 20 * time.Second
	dir, environment := makeFleet(b)
	b.Chdir(dir)
	program := clustertest.Program(b)
	for b.Loop() {
		u := clustertest.Measure(b, environment, program, fleetPlan...)
		if u.ExitCode != 0 || u.Wall > goal {
			b.Fatalf("exit code %d after %v\n%s", u.ExitCode, u.Wall, u.Stderr)
		}
		b.ReportMetric(float64(u.MaxRSS)/1e6, "MB")
	}
}

// makeFleet makes a repository of three clusters, each an overlay of the same HelmReleases, and a
// branch that changes half of them, which is checked out. It also returns the environment of somebody
// who has fetched the charts that are not in the repository.
func makeFleet(t testing.TB) (dir string, environment []string) {
	t.Helper()
	dir = t.TempDir()
	environment = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	run := func(name string, args ...string) {
		t.Helper()
		command := exec.Command(name, args...)
		command.Dir, command.Env = dir, environment
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	commit := func() {
		run("git", "add", ".")
		run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "change")
	}
	registry := sourcetest.Serve(t, sourcetest.Options{})
	host := strings.TrimPrefix(registry.URL, "http://")
	for _, version := range []string{"1.0.0", "1.1.0"} {
		registry.PutImage(t, "charts/shared", version, sourcetest.Archive(t, "shared", fleetChart("shared", version)))
		run(clustertest.Program(t), "pull", "oci://"+host+"/charts/shared", "--version", version, "--plain-http", "-d", t.TempDir())
	}
	run("git", "init", "-q", "-b", "main")
	clustertest.WriteFiles(t, dir, fleet(host, false))
	commit()
	run("git", "checkout", "-qb", "change")
	if err := os.RemoveAll(filepath.Join(dir, "apps")); err != nil {
		t.Fatal(err)
	}
	clustertest.WriteFiles(t, dir, fleet(host, true))
	commit()
	return dir, environment
}

// fleet returns the files of the repository. The changes are: the version and the image of
// charts/web-0, the version of the registry's chart, timeouts and one release's name; and one release
// is gone.
func fleet(registry string, changed bool) map[string]string {
	version := "1.0.0"
	if changed {
		version = "1.1.0"
	}
	files := map[string]string{}
	for i, version := range []string{version, "1.0.0", "1.0.0"} {
		chart := fmt.Sprintf("web-%d", i)
		for name, text := range fleetChart(chart, version) {
			files["charts/"+chart+"/"+name] = text
		}
	}
	base := []string{"sources.yaml"}
	files["apps/base/sources.yaml"] = fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: shared, namespace: apps}
spec: {interval: 10m, insecure: true, url: "oci://%s/charts/shared", ref: {tag: %s}}
`, registry, version)
	for i := range fleetReleases {
		if changed && i == 10 {
			continue
		}
		name := fmt.Sprintf("app-%03d", i)
		base = append(base, name+".yaml")
		files["apps/base/"+name+".yaml"] = fleetRelease(name, i, changed)
	}
	files["apps/base/kustomization.yaml"] = "resources: [" + strings.Join(base, ", ") + "]\n"
	for i, cluster := range []string{"prod", "staging", "dev"} {
		files["clusters/"+cluster+"/flux-system/sync.yaml"] = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: "https://example.com/fleet"}
`
		files["clusters/"+cluster+"/apps.yaml"] = fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata: {name: cluster, namespace: flux-system}
data: {DOMAIN: %[1]s.example.com}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  interval: 10m
  path: ./apps/%[1]s
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
  postBuild: {substitute: {CLUSTER: %[1]s}, substituteFrom: [{kind: ConfigMap, name: cluster}]}
`, cluster)
		files["apps/"+cluster+"/kustomization.yaml"] = fmt.Sprintf(`resources: [../base]
patches:
- target: {kind: HelmRelease, labelSelector: tier=front}
  patch: |
    - {op: add, path: /spec/values/replicas, value: %d}
`, 3-i)
	}
	return files
}

func fleetRelease(name string, i int, changed bool) string {
	chart := fmt.Sprintf("chart: {spec: {chart: ./charts/web-%d, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}", i%3)
	if i%4 == 3 {
		chart = "chartRef: {kind: OCIRepository, name: shared}"
	}
	tier, more := "back", ""
	if i%2 == 0 {
		tier = "front"
		more += "\n  valuesFrom: [{kind: Secret, name: database, valuesKey: password, targetPath: password}]"
	}
	if changed && i%5 == 1 {
		more += "\n  timeout: 7m"
	}
	if changed && i == 20 {
		more += "\n  releaseName: renamed"
	}
	return fmt.Sprintf(`apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %s, namespace: apps, labels: {tier: %s}}
spec:
  interval: 10m
  %s
  values: {host: "%[1]s.${DOMAIN}", cluster: "${CLUSTER}"}%[4]s
`, name, tier, chart, more)
}

// fleetChart returns the chart of a typical workload: six objects.
func fleetChart(name, version string) map[string]string {
	labels := `{app.kubernetes.io/name: {{ .Chart.Name }}, app.kubernetes.io/instance: {{ .Release.Name }}, helm.sh/chart: "{{ .Chart.Name }}-{{ .Chart.Version }}"}`
	object := func(apiVersion, kind, body string) string {
		return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: {{ .Release.Name }}\n  labels: %s\n%s", apiVersion, kind, labels, body)
	}
	return map[string]string{
		"Chart.yaml":                    fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version),
		"values.yaml":                   "replicas: 1\nimage: registry.example.com/web:" + version + "\nhost: \"\"\npassword: \"\"\ncluster: \"\"\n",
		"templates/serviceaccount.yaml": object("v1", "ServiceAccount", ""),
		"templates/service.yaml":        object("v1", "Service", "spec:\n  selector: {app: {{ .Release.Name }}}\n  ports: [{name: http, port: 80, targetPort: http}]\n"),
		"templates/settings.yaml":       object("v1", "ConfigMap", "data:\n  host: {{ .Values.host | quote }}\n  cluster: {{ .Values.cluster | quote }}\n"),
		"templates/credentials.yaml":    object("v1", "Secret", "stringData:\n  password: {{ .Values.password | quote }}\n"),
		"templates/ingress.yaml":        object("networking.k8s.io/v1", "Ingress", "spec:\n  rules:\n  - host: {{ .Values.host }}\n    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: {{ .Release.Name }}, port: {name: http}}}}]}\n"),
		"templates/deployment.yaml": object("apps/v1", "Deployment", `spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      serviceAccountName: {{ .Release.Name }}
      containers:
      - name: web
        image: {{ .Values.image }}
        ports: [{name: http, containerPort: 8080}]
        envFrom: [{configMapRef: {name: {{ .Release.Name }}}}, {secretRef: {name: {{ .Release.Name }}}}]
        resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {memory: 256Mi}}
`),
	}
}
