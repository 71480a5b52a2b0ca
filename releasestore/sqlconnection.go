package releasestore

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLConnection is the environment variable with the connection string of
// HELM_DRIVER=sql (Helm 4.3.1).
const SQLConnection = "HELM_DRIVER_SQL_CONNECTION_STRING"

// OpenSQL returns the store for HELM_DRIVER=sql: Helm's tables in a PostgreSQL database, which the
// first write creates if they are missing. connection is a URL (postgresql://…) or pairs (host=…
// user=…), as for libpq, or empty if PG* variables name the database
// (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING and libpq-envars.html).
// OpenSQL sends nothing, and its errors show only host, database and user.
func OpenSQL(connection string, clock Clock) (*Store, error) {
	named := os.Getenv("PGHOST") != "" || os.Getenv("PGDATABASE") != ""
	if strings.TrimSpace(connection) == "" && !named {
		return nil, errors.New("open release store: HELM_DRIVER=sql needs a database: set " + SQLConnection +
			" to its URL, postgresql://HOST:PORT/DATABASE, with user and password in it or in PGUSER and PGPASSWORD")
	}
	config, err := sqlConfig(connection)
	if err != nil {
		return nil, err
	}
	return open(sqlRows{newDatabase(config)}, clock), nil
}

// sqlConfig parses a connection string. The parser's errors are not passed on: they quote parts of
// the string.
func sqlConfig(connection string) (*pgconn.Config, error) {
	unreadable := errors.New("open release store: " + SQLConnection + " is not a PostgreSQL connection string " +
		"(not shown, as it may contain a password); in a URL, write special characters of user and password as %XX")
	if misplaced(connection) {
		return nil, unreadable
	}
	config, err := pgconn.ParseConfig(connection)
	if err != nil {
		return nil, unreadable
	}
	delete(config.RuntimeParams, "binary_parameters") // an option of Helm's driver, lib/pq, which the server does not know
	for name := range config.RuntimeParams {
		if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`).MatchString(name) {
			return nil, unreadable
		}
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "kubectl-release"
	}
	if !saysSSLMode(connection) && os.Getenv("PGSSLMODE") == "" {
		config.Fallbacks = slices.DeleteFunc(config.Fallbacks, plain)
	}
	config.MaxProtocolMessageBodyLen = 2 * MaxUnpacked
	return config, nil
}

// saysSSLMode reports whether a connection string sets sslmode. The parser does not tell, but it
// rejects an invalid mode, and of two modes the last one counts.
func saysSSLMode(connection string) bool {
	const invalid = "sslmode=none-such"
	probe := invalid + " " + connection
	if strings.HasPrefix(connection, "postgres://") || strings.HasPrefix(connection, "postgresql://") {
		place, options, _ := strings.Cut(connection, "?") // options begin at the first question mark, see misplaced
		probe = strings.TrimSuffix(place+"?"+invalid+"&"+options, "&")
	}
	_, err := pgconn.ParseConfig(probe)
	return err == nil
}

// plain reports whether a fallback connects without TLS. That is libpq's default (sslmode=prefer),
// but not lib/pq's and therefore not Helm's (https://pkg.go.dev/github.com/lib/pq).
func plain(f *pgconn.FallbackConfig) bool {
	return f.TLSConfig == nil && !strings.HasPrefix(f.Host, "/")
}

// misplaced reports whether a part of the password may be parsed as host, database or option of a
// URL, because it contains @, /, ? or # unescaped. Errors show those parts.
func misplaced(connection string) bool {
	_, rest, isURL := strings.Cut(connection, "://")
	if !isURL || !strings.HasPrefix(connection, "postgres") {
		return false
	}
	if i := strings.IndexAny(rest, "@/?#"); i >= 0 && rest[i] == '@' {
		rest = rest[i+1:]
	}
	place, options, _ := strings.Cut(rest, "?")
	if strings.ContainsAny(place, "@#") {
		return true
	}
	for option := range strings.SplitSeq(options, "&") {
		name, _, _ := strings.Cut(option, "=")
		if strings.ContainsAny(name, "@/#?:") {
			return true
		}
	}
	return false
}
