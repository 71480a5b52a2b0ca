//go:build cluster

package releasestore

import (
	"context"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

func openSQL(t *testing.T, database string) *Store {
	t.Helper()
	s, err := OpenSQL(database, SystemClock{})
	must(t, err)
	t.Cleanup(func() { _ = s.backend.backend.(sqlRows).db.close(context.Background()) })
	return s
}

// A real server plays the part of the API server in the tests of the other drivers.
func TestSQL(t *testing.T) {
	server := clustertest.StartPostgres(t)
	for name, test := range map[string]func(*testing.T, *clustertest.Postgres, string){
		"life of a record":     sqlLife,
		"conflict":             sqlConflict,
		"lists":                sqlLists,
		"pages":                sqlPages,
		"large record":         sqlLarge,
		"too large a record":   sqlTooLarge,
		"lost connection":      sqlLostConnection,
		"first writes at once": sqlFirstWrites,
		"before custom labels": sqlWithoutLabels,
		"long names":           sqlLongNames,
		"refused":              sqlRefused,
	} {
		t.Run(name, func(t *testing.T) { test(t, server, server.Database(t)) })
	}
}

func sqlLife(t *testing.T, _ *clustertest.Postgres, database string) {
	s := openSQL(t, database)
	h, err := s.History(t.Context(), testKey(), nil)
	must(t, err) // without tables the history is empty, and reading creates none
	if len(h) != 0 {
		t.Errorf("history of an empty database: %v", h)
	}
	r := testRevision(1, release.StatusPendingInstall)
	must(t, s.Create(t.Context(), r))
	must(t, s.Create(t.Context(), r)) // an answer was lost: the record is ours

	var exists *ExistsError
	if err := s.Create(t.Context(), testRevision(1, release.StatusFailed)); !errors.As(err, &exists) {
		t.Errorf("create with a number that is taken: %v", err)
	}
	done := r.WithStatus(release.StatusDeployed, "done")
	must(t, s.Update(t.Context(), done))
	must(t, s.Update(t.Context(), done))
	got, err := openSQL(t, database).Get(t.Context(), testKey(), 1)
	must(t, err)
	if got.Modified.IsZero() {
		t.Error("the record does not tell when it was written last")
	}
	got.Modified = done.Modified // only a record that was read has it
	equal(t, done, got)

	must(t, s.Delete(t.Context(), testKey(), 1))
	must(t, s.Delete(t.Context(), testKey(), 1)) // deleting a missing record is not an error
	var missing *NotFoundError
	if _, err := s.Get(t.Context(), testKey(), 1); !errors.As(err, &missing) {
		t.Errorf("get of a deleted record: %v", err)
	}
	if err := s.Update(t.Context(), r); !errors.As(err, &missing) {
		t.Errorf("update of a deleted record: %v", err)
	}
}

// Two processes read the same record: the first to write wins, and the other must
// read it again before it can write.
func sqlConflict(t *testing.T, server *clustertest.Postgres, database string) {
	ours, theirs := openSQL(t, database), openSQL(t, database)
	must(t, theirs.Create(t.Context(), testRevision(1, release.StatusDeployed)))
	mine, err := ours.Get(t.Context(), testKey(), 1)
	must(t, err)
	must(t, theirs.Update(t.Context(), mine.WithStatus(release.StatusFailed, "theirs")))

	var conflict *ConflictError
	if err := ours.Update(t.Context(), mine.WithStatus(release.StatusSuperseded, "ours")); !errors.As(err, &conflict) {
		t.Fatalf("update of what others changed: %v", err)
	}
	if err := ours.Delete(t.Context(), testKey(), 1); !errors.As(err, &conflict) {
		t.Fatalf("delete of what others changed: %v", err)
	}
	_, err = ours.History(t.Context(), testKey(), nil)
	must(t, err)
	must(t, ours.Update(t.Context(), mine.WithStatus(release.StatusSuperseded, "ours")))

	// Rewriting a row with the same content is not a conflict.
	server.SQL(t, database, "UPDATE releases_v1 SET owner = owner")
	must(t, ours.Update(t.Context(), mine.WithStatus(release.StatusFailed, "again")))
	must(t, ours.Delete(t.Context(), testKey(), 1))
	if left := server.SQL(t, database, "SELECT count(*) FROM custom_labels_v1"); left != "0\n" {
		t.Errorf("custom labels are left: %s", left)
	}
}

// Pages, namespaces and selectors give the same results as with Secrets.
func sqlLists(t *testing.T, _ *clustertest.Postgres, database string) {
	s := openSQL(t, database)
	for version := 1; version <= pageSize+3; version++ {
		must(t, s.Create(t.Context(), testRevision(version, release.StatusSuperseded)))
	}
	other := testRevision(1, release.StatusDeployed)
	other.Name, other.Namespace, other.Labels = "api", "back", map[string]string{"team": "core"}
	must(t, s.Create(t.Context(), other))

	for name, c := range map[string]struct {
		query Query
		want  int
	}{
		"newest, everywhere": {Query{}, 2},
		"one namespace":      {Query{Namespace: "back"}, 1},
		"a status":           {Query{Statuses: []release.Status{release.StatusDeployed}}, 1},
		"a label":            {Query{Selector: labels.SelectorFromSet(labels.Set{"team": "shop"})}, 1},
	} {
		got, err := s.List(t.Context(), c.query)
		must(t, err)
		if len(got) != c.want {
			t.Errorf("%s: %d, want %d", name, len(got), c.want)
		}
	}
	page, next, err := s.backend.list(t.Context(), "shop", listOptions{ListOptions: metav1.ListOptions{Limit: 2, LabelSelector: "team=core"}})
	must(t, err)
	if len(page) != 0 || next == "" {
		t.Errorf("a page of which nothing is selected: %d rows, next %q", len(page), next)
	}
}

// Each page begins where the one before it ended, whatever a namespace in a database is called.
func sqlPages(t *testing.T, server *clustertest.Postgres, database string) {
	s := openSQL(t, database)
	must(t, s.Create(t.Context(), testRevision(1, release.StatusDeployed)))
	for _, namespace := range []string{"a", "a/b", "/", "a/b/c", "a b", "z"} {
		server.SQL(t, database, "INSERT INTO releases_v1 SELECT key, type, body, name, '"+namespace+"', version, status, owner, createdat FROM releases_v1 WHERE namespace = 'shop'")
	}
	o := listOptions{ListOptions: metav1.ListOptions{Limit: 1}}
	seen := map[string]bool{}
	for range 8 {
		page, next, err := s.backend.list(t.Context(), "", o)
		must(t, err)
		for _, row := range page {
			seen[row.meta.Namespace] = true
		}
		o.Continue = next
		if next == "" {
			break
		}
	}
	if len(seen) != 7 || o.Continue != "" {
		t.Errorf("seen %v, next %q", seen, o.Continue)
	}
}

// S11: the size limit of Secrets does not apply to the database. Large bodies are stored apart
// from their row, whose version is known nevertheless.
func sqlLarge(t *testing.T, _ *clustertest.Postgres, database string) {
	s := openSQL(t, database)
	if s.MaxSize() != 0 {
		t.Errorf("limit %d", s.MaxSize())
	}
	r := testRevision(1, release.StatusPendingInstall)
	noise := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	r.Manifest = hex.EncodeToString(noise)
	must(t, s.Create(t.Context(), r))
	must(t, s.Update(t.Context(), r.WithStatus(release.StatusDeployed, "")))
	must(t, s.Update(t.Context(), r.WithStatus(release.StatusSuperseded, "")))
	got, err := s.Get(t.Context(), testKey(), 1)
	must(t, err)
	if got.Manifest != r.Manifest {
		t.Error("the manifest is another one")
	}
}

// A row that holds more than any record is named, and keeps nobody from reading the others, of
// which some are read apart from their page.
func sqlTooLarge(t *testing.T, server *clustertest.Postgres, database string) {
	s := openSQL(t, database)
	noise := make([]byte, 2<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	for version, namespace := range []string{"sound", "large", "huge"} {
		r := testRevision(version+1, release.StatusDeployed)
		if r.Namespace = namespace; namespace == "large" {
			r.Manifest = hex.EncodeToString(noise)
		}
		must(t, s.Create(t.Context(), r))
	}
	server.SQL(t, database, "UPDATE releases_v1 SET body = repeat('A', 150 * 1024 * 1024) WHERE namespace = 'huge'")
	got, err := s.List(t.Context(), Query{})
	if corrupt, only := Corrupt(err); !only || len(got) != 2 || len(corrupt) != 1 || corrupt[0].Key.Namespace != "huge" || !strings.Contains(err.Error(), "MiB that a record can have") {
		t.Errorf("%v, %.300v", got, err)
	}
	huge := release.Key{Namespace: "huge", Name: "web"}
	h, err := s.History(t.Context(), huge, nil)
	if corrupt, only := Corrupt(err); !only || len(h) != 0 || len(corrupt) != 1 {
		t.Errorf("%v, %.300v", h, err)
	}
	large, err := s.Get(t.Context(), release.Key{Namespace: "large", Name: "web"}, 2)
	if err != nil || len(large.Manifest) != 4<<20 {
		t.Errorf("%.300v", err)
	}
	must(t, s.Delete(t.Context(), huge, 3))
}

// A connection that broke between two statements is reopened unnoticed.
func sqlLostConnection(t *testing.T, server *clustertest.Postgres, database string) {
	s := openSQL(t, database)
	r := testRevision(1, release.StatusPendingInstall)
	must(t, s.Create(t.Context(), r))
	cut := func() {
		server.SQL(t, database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'kubectl-release' AND datname = current_database()")
	}
	cut()
	must(t, s.Update(t.Context(), r.WithStatus(release.StatusDeployed, "")))
	cut()
	_, err := s.Get(t.Context(), testKey(), 1)
	must(t, err)
	cut()
	must(t, s.Delete(t.Context(), testKey(), 1))
}

// Concurrent writers that find no tables create them once.
func sqlFirstWrites(t *testing.T, server *clustertest.Postgres, database string) {
	var all sync.WaitGroup
	for version := 1; version <= 8; version++ {
		s := openSQL(t, database)
		all.Go(func() {
			if err := s.Create(context.Background(), testRevision(version, release.StatusSuperseded)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := server.SQL(t, database, "SELECT count(*) FROM releases_v1"); got != "8\n" {
		t.Errorf("rows: %s", got)
	}
}

// A database that an old Helm set up is read as it is, and the first write
// adds what is missing.
func sqlWithoutLabels(t *testing.T, server *clustertest.Postgres, database string) {
	must(t, openSQL(t, database).Create(t.Context(), testRevision(1, release.StatusSuperseded)))
	server.SQL(t, database, "DROP TABLE custom_labels_v1; DELETE FROM gorp_migrations WHERE id = 'custom_labels'")
	s := openSQL(t, database)
	h, err := s.History(t.Context(), testKey(), nil)
	must(t, err)
	if len(h) != 1 {
		t.Fatalf("history: %v", h)
	}
	must(t, s.Create(t.Context(), testRevision(2, release.StatusDeployed)))
	h, err = s.History(t.Context(), testKey(), nil)
	must(t, err)
	if len(h) != 2 || h[1].Labels["team"] != "shop" {
		t.Errorf("history: %v", h)
	}
}

// Helm's column for labels is too narrow for long names.
func sqlLongNames(t *testing.T, _ *clustertest.Postgres, database string) {
	s := openSQL(t, database)
	r := testRevision(1, release.StatusDeployed)
	r.Name = strings.Repeat("n", 53)
	if err := s.Create(t.Context(), r); err == nil || !strings.Contains(err.Error(), "at most 64 characters") {
		t.Errorf("labels and a long name: %v", err)
	}
	r.Labels = nil
	must(t, s.Create(t.Context(), r))
}

// S36: error messages do not contain the password.
func sqlRefused(t *testing.T, _ *clustertest.Postgres, database string) {
	for name, c := range map[string]struct{ connection, want string }{
		"wrong password": {strings.Replace(database, clustertest.PostgresPassword, "canary-wrong", 1), "password authentication failed"},
		"no database":    {strings.Replace(database, "dbname=", "dbname=no", 1), "does not exist"},
		"no server":      {"postgresql://helm:canary@127.0.0.1:1/helm", "connection refused"},
	} {
		_, err := openSQL(t, c.connection).History(t.Context(), testKey(), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
