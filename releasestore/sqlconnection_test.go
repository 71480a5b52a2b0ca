package releasestore

import (
	"strings"
	"testing"
)

// S36: an invalid connection string is never shown, and none is accepted in
// which a password could be mistaken for a part that errors show.
func TestSQLConnectionStrings(t *testing.T) {
	t.Setenv("PGHOST", "")
	t.Setenv("PGDATABASE", "")
	for connection, want := range map[string]string{
		"":   "set HELM_DRIVER_SQL_CONNECTION_STRING to",
		"  ": "set HELM_DRIVER_SQL_CONNECTION_STRING to",
		"postgresql://db.example:5432/helm?user=helm&password=canary": "",
		"postgres://helm:canary%40x@db.example/helm?sslmode=require":  "",
		"postgres://helm:p@a.example:1,b.example:2/helm":              "",
		"host=db.example user=helm password='ca nary' dbname=helm":    "",
		"host=db.example binary_parameters=yes":                       "",
		"postgres://helm:12/canary@db.example/helm":                   "%XX",
		"postgres://helm:12?canary@db.example/helm":                   "%XX",
		"postgres://helm:12#canary@db.example/helm":                   "%XX",
		"postgres://helm:p@canary@db.example/helm":                    "%XX",
		"postgres://helm:canary@db.example:port/helm":                 "%XX",
		"host=db.example password=my canary user=helm":                "%XX",
		"canary": "%XX",
	} {
		_, err := OpenSQL(connection, testClock())
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", connection, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary")):
			t.Errorf("%q: %v", connection, err)
		}
	}
}

// Without a connection string, the PG* variables say where the database is, as with Helm.
func TestSQLFromTheEnvironment(t *testing.T) {
	t.Setenv("PGHOST", "db.example")
	if _, err := OpenSQL("", testClock()); err != nil {
		t.Error(err)
	}
	config, err := sqlConfig("")
	must(t, err)
	if config.Host != "db.example" {
		t.Errorf("the host is %q", config.Host)
	}
}

// As in Helm, there is no fallback from TLS unless the string says so.
func TestSQLConnectionKeepsTLS(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	for connection, want := range map[string]bool{
		"host=db.example":                                                   false,
		"host=db.example sslmode=prefer":                                    true,
		"host=db.example sslmode=require":                                   false,
		"postgres://helm@db.example/helm":                                   false,
		"postgres://helm@db.example/helm?sslmode=prefer":                    true,
		"postgres://helm@db.example/helm?connect_timeout=2&sslmode=prefer":  true,
		"postgres://helm@db.example/sslmode":                                false,
		"postgres://helm:sslmode@db.example/helm":                           false,
		"postgres://helm@db.example/helm?application_name=sslmode%3Dprefer": false,
		"host=db.example password=sslmode":                                  false,
		"host=db.example dbname=sslmode user=helm":                          false,
		"host=db.example password='x sslmode=prefer'":                       false,
		"host=db.example sslmode = prefer":                                  true,
		"sslmode=allow host=db.example":                                     false, // starts without TLS, as the string says
	} {
		config, err := sqlConfig(connection)
		must(t, err)
		got := false
		for _, f := range config.Fallbacks {
			got = got || plain(f)
		}
		if got != want {
			t.Errorf("%q falls back to a connection without TLS: %v, want %v", connection, got, want)
		}
	}
}
