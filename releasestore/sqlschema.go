package releasestore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// sqlSchema applies Helm's two migrations to a database in one transaction. It records them as
// Helm's sql-migrate does, so that each tool finds the other's tables in order. Tables, names,
// types, indices, the grant and row level security are those of Helm 3.22 and 4.3.1
// (pkg/storage/driver/sql.go, ensureDBSetup). The advisory lock keeps two runs of this tool apart;
// its number is arbitrary, and Helm does not take it.
const sqlSchema = `
SELECT pg_advisory_xact_lock(7163948205173);
CREATE TABLE IF NOT EXISTS gorp_migrations (id text NOT NULL PRIMARY KEY, applied_at timestamp with time zone);
DO $$ BEGIN
	IF NOT EXISTS (SELECT FROM gorp_migrations WHERE id = 'init') THEN
		CREATE TABLE releases_v1 (
			key varchar(90),
			type varchar(64) NOT NULL,
			body text NOT NULL,
			name varchar(64) NOT NULL,
			namespace varchar(64) NOT NULL,
			version integer NOT NULL,
			status text NOT NULL,
			owner text NOT NULL,
			createdat integer NOT NULL,
			modifiedat integer NOT NULL DEFAULT 0,
			PRIMARY KEY (key, namespace)
		);
		CREATE INDEX ON releases_v1 (key, namespace);
		CREATE INDEX ON releases_v1 (version);
		CREATE INDEX ON releases_v1 (status);
		CREATE INDEX ON releases_v1 (owner);
		CREATE INDEX ON releases_v1 (createdat);
		CREATE INDEX ON releases_v1 (modifiedat);
		GRANT ALL ON releases_v1 TO PUBLIC;
		ALTER TABLE releases_v1 ENABLE ROW LEVEL SECURITY;
		INSERT INTO gorp_migrations VALUES ('init', now());
	END IF;
	IF NOT EXISTS (SELECT FROM gorp_migrations WHERE id = 'custom_labels') THEN
		CREATE TABLE custom_labels_v1 (
			releasekey varchar(64),
			releasenamespace varchar(67),
			key varchar(317),
			value varchar(63)
		);
		CREATE INDEX ON custom_labels_v1 (releasekey, releasenamespace);
		GRANT ALL ON custom_labels_v1 TO PUBLIC;
		ALTER TABLE custom_labels_v1 ENABLE ROW LEVEL SECURITY;
		INSERT INTO gorp_migrations VALUES ('custom_labels', now());
	END IF;
END $$`

// setUp creates missing tables. If Helm creates them at the same moment, it tries again and finds
// them.
func (d *database) setUp(ctx context.Context) error {
	const attempts = 3
	var err error
	for range attempts {
		if err = d.script(ctx, sqlSchema); !crossed(err) {
			return err
		}
	}
	return err
}

// SQLSTATE codes of PostgreSQL (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const (
	stateUndefinedTable  = "42P01"
	stateDuplicateTable  = "42P07"
	stateUniqueViolation = "23505"
)

func undefinedTable(err error) bool { return sqlState(err) == stateUndefinedTable }

// crossed reports whether another process was creating the tables at the same time.
func crossed(err error) bool {
	state := sqlState(err)
	return state == stateDuplicateTable || state == stateUniqueViolation
}

// sqlState returns the SQLSTATE of an error from the server, "" for other errors.
func sqlState(err error) string {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		return said.Code
	}
	return ""
}
