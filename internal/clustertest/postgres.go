package clustertest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Postgres is a PostgreSQL server for one test. It listens only on a unix socket
// and requires the password.
type Postgres struct {
	programs string // the folder of initdb, postgres and psql
	folder   string // data, and the socket
	who      *syscall.SysProcAttr
}

// PostgresPassword is the password of the server's only user, helm.
const PostgresPassword = "canary-of-postgres"

// StartPostgres starts a server of a PostgreSQL that the system has (make tools
// installs it), which takes seconds. It ends with the test, or with this process,
// however that ends: a shell waits for the end of its standard input and then stops
// the server and removes its files.
func StartPostgres(t testing.TB) *Postgres {
	t.Helper()
	p, err := newPostgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(p.folder) })
	password := filepath.Join(p.folder, "password")
	if err := os.WriteFile(password, []byte(PostgresPassword), 0o644); err != nil {
		t.Fatal(err)
	}
	p.run(t, "initdb", "-D", p.data(), "-U", "helm", "--pwfile", password, "-A", "scram-sha-256", "-E", "UTF8", "--no-locale", "--no-sync")

	// A signal for the whole process group must end cat, and not the shell before it has cleaned up.
	server := exec.Command("sh", "-c", `trap : HUP INT TERM; "$0" "$@" </dev/null & cat; kill -QUIT $!; wait; rm -rf "$FOLDER"`, filepath.Join(p.programs, "postgres"),
		"-D", p.data(), "-k", p.folder, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "log_min_messages=fatal")
	server.Env = append(os.Environ(), "FOLDER="+p.folder)
	server.SysProcAttr, server.Dir = p.who, p.folder
	stdin, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = server.Wait()
	})
	for range 3000 {
		if p.command("psql", "-c", "SELECT 1", "postgres").Run() == nil {
			return p
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("start PostgreSQL: it does not answer")
	return nil
}

func newPostgres() (*Postgres, error) {
	installed, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(installed) == 0 {
		return nil, errors.New("look for /usr/lib/postgresql/*/bin/initdb: it is not there; make tools installs PostgreSQL")
	}
	folder, err := os.MkdirTemp("", "postgres-")
	if err != nil {
		return nil, err
	}
	p := &Postgres{programs: filepath.Dir(installed[len(installed)-1]), folder: folder}
	if os.Getuid() != 0 {
		return p, nil
	}
	// The server refuses to run as root.
	account, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, uidErr := strconv.Atoi(account.Uid)
	gid, gidErr := strconv.Atoi(account.Gid)
	if err := errors.Join(uidErr, gidErr, os.Chown(folder, uid, gid)); err != nil {
		return nil, err
	}
	p.who = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return p, nil
}

func (p *Postgres) data() string { return filepath.Join(p.folder, "data") }

// Database creates a database for this test alone and returns its connection
// string, for HELM_DRIVER_SQL_CONNECTION_STRING.
func (p *Postgres) Database(t testing.TB) string {
	t.Helper()
	name := "test_" + strings.ToLower(rand.Text()[:10])
	p.run(t, "psql", "-c", "CREATE DATABASE "+name, "postgres")
	return fmt.Sprintf("host=%s user=helm password=%s dbname=%s sslmode=disable", p.folder, PostgresPassword, name)
}

// SQL runs statements in the database of a connection string and returns their
// rows, with values separated by "|".
func (p *Postgres) SQL(t testing.TB, database, statements string) string {
	t.Helper()
	return p.run(t, "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statements, database)
}

// Schema returns the database's schema as written by pg_dump, without psql commands.
func (p *Postgres) Schema(t testing.TB, database string) string {
	t.Helper()
	var kept []string
	for line := range strings.Lines(p.run(t, "pg_dump", "--schema-only", "-d", database)) {
		if !strings.HasPrefix(line, `\`) { // \restrict has a random key
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func (p *Postgres) run(t testing.TB, program string, args ...string) string {
	t.Helper()
	out, err := p.command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (p *Postgres) command(program string, args ...string) *exec.Cmd {
	command := exec.Command(filepath.Join(p.programs, program), args...)
	command.SysProcAttr, command.Dir = p.who, p.folder
	command.Env = append(os.Environ(), "PGHOST="+p.folder, "PGUSER=helm", "PGPASSWORD="+PostgresPassword)
	return command
}
