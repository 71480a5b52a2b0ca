package releasestore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// database is one connection to PostgreSQL, which is opened on first use and reopened after it breaks.
// Statements run one at a time. retryingReads retries reads, package apply retries writes.
type database struct {
	config *pgconn.Config
	turn   chan struct{} // holds a token while a statement is under way
	conn   *pgconn.PgConn
}

// statementTime limits one statement, including connecting.
const statementTime = 30 * time.Second

func newDatabase(config *pgconn.Config) *database {
	return &database{config: config, turn: make(chan struct{}, 1)}
}

// ask runs one statement and returns its rows; all values are text, nil is NULL. The statement is
// sent again when the connection turns out to have broken since its last use. That is safe for
// writes: Store recognises its own record, whether the response is that it exists, has another
// version or is gone.
func (d *database) ask(ctx context.Context, statement string, params ...*string) ([][][]byte, error) {
	values := make([][]byte, len(params))
	for i, p := range params {
		if p != nil {
			values[i] = []byte(*p)
		}
	}
	var rows [][][]byte
	err := d.use(ctx, func(ctx context.Context) error {
		result := d.conn.ExecParams(ctx, statement, values, nil, nil, nil).Read()
		rows = result.Rows
		return result.Err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// script runs statements without parameters in one transaction.
func (d *database) script(ctx context.Context, statements string) error {
	return d.use(ctx, func(ctx context.Context) error {
		_, err := d.conn.Exec(ctx, statements).ReadAll()
		return err
	})
}

// use calls run with an open connection.
func (d *database) use(ctx context.Context, run func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return fmt.Errorf("wait for the connection to PostgreSQL: %w", ctx.Err())
	}
	for {
		old := d.conn != nil && !d.conn.IsClosed()
		if !old {
			conn, err := pgconn.ConnectConfig(ctx, d.config)
			if err != nil {
				return d.unreachable(err)
			}
			d.conn = conn
		}
		err := run(ctx)
		if err == nil {
			return nil
		}
		if old && d.conn.IsClosed() && ctx.Err() == nil {
			continue
		}
		return mapError(err)
	}
}

// close closes the connection; the next statement opens it again.
func (d *database) close(ctx context.Context) error {
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	if d.conn == nil {
		return nil
	}
	return d.conn.Close(ctx)
}

// unreachable returns the error of a failed connection. It names the server without the password.
func (d *database) unreachable(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner // the outer error repeats host and user less clearly
	}
	if busy(sqlState(err)) {
		err = busyError(err)
	}
	_, address := pgconn.NetworkAddress(d.config.Host, d.config.Port)
	return &UnreachedDatabaseError{fmt.Sprintf("%s, database %s, user %s", address, d.config.Database, d.config.User), oneLine{err}}
}

// mapError returns the error of a failed statement.
func mapError(err error) error {
	switch state := sqlState(err); {
	case busy(state):
		return busyError(err)
	case state != "":
		return fmt.Errorf("PostgreSQL: %w", err)
	}
	return fmt.Errorf("talk to PostgreSQL: %w", err)
}

// busy reports whether the SQLSTATE is that of a transient error: the server is starting, stopping
// or short of resources, or transactions conflicted
// (https://www.postgresql.org/docs/current/errcodes-appendix.html).
func busy(state string) bool {
	for _, class := range []string{"08", "40", "53", "57P"} {
		if strings.HasPrefix(state, class) {
			return true
		}
	}
	return false
}

// busyError is an error that retry.Passes treats as transient.
func busyError(err error) error { return apierrors.NewServiceUnavailable("PostgreSQL: " + err.Error()) }

// oneLine joins the lines of an error that has one for each address that was tried.
type oneLine struct{ error }

func (e oneLine) Error() string {
	return strings.Join(strings.FieldsFunc(e.error.Error(), func(r rune) bool { return r == '\n' || r == '\t' }), "; ")
}

func (e oneLine) Unwrap() error { return e.error }
