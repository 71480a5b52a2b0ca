package releasestore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// sqlSchema brings a database to Helm's two migrations, in one transaction and
// with the book that Helm's sql-migrate keeps of them, so that either of us finds
// the other's tables in order. Tables, names, types, indices, the grant and row
// level security are those of Helm 3.22 and 4.3.1. The lock, a number made up by
// us, keeps two of us apart; Helm does not take it.
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

// setUp creates what is missing of the tables. Where Helm creates them at the
// same moment it looks again: then they are there.
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

// Conditions of PostgreSQL, by SQLSTATE.
const (
	stateUndefinedTable  = "42P01"
	stateDuplicateTable  = "42P07"
	stateUniqueViolation = "23505"
)

func undefinedTable(err error) bool { return sqlState(err) == stateUndefinedTable }

func crossed(err error) bool {
	state := sqlState(err)
	return state == stateDuplicateTable || state == stateUniqueViolation
}

// sqlState is the condition that the server tells, "" for every other error.
func sqlState(err error) string {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		return said.Code
	}
	return ""
}
