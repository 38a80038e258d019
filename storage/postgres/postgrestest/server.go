// Package postgrestest runs PostgreSQL servers for tests.
package postgrestest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage/postgres"
)

// template is the database that those of the tests are copies of. It has the schema.
const template = "compactord_template"

// durable is a variable of the environment by which each commit waits for the disk.
const durable = "COMPACTORD_TEST_FSYNC"

// temporary is where servers are. A test may set another folder for temporary files, which the user of a server cannot enter.
var temporary = os.TempDir()

// Server is a server in a temporary folder, which listens on a socket there.
type Server struct {
	programs, folder string
	process          *exec.Cmd
	// output is all that the server has said.
	ended     chan struct{}
	databases atomic.Int64
}

// ErrMissing says why there is no server.
var ErrMissing = errors.New("initdb and postgres are neither in PATH nor installed in storage/postgres/postgrestest: run `npm ci` there")

// Start makes a server and its template. The caller must call Stop.
func Start(ctx context.Context) (*Server, error) {
	programs, err := findPrograms()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(temporary, "pg")
	if err != nil {
		return nil, err
	}
	s := &Server{programs: programs, folder: folder}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return s, nil
}

// prepare makes the server's data, starts it and makes the template.
func (s *Server) prepare(ctx context.Context) error {
	if err := ownFolder(s.folder); err != nil {
		return err
	}
	initdb := s.command(ctx, "initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if err := s.Run(ctx); err != nil {
		return err
	}
	err := s.execute(ctx, "CREATE DATABASE "+template)
	if err == nil {
		_, err = postgres.Migrate(ctx, s.URL(template))
	}
	if err != nil {
		return errors.Join(err, s.Kill())
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

// Run starts the server and waits until it answers. It can be called again after Kill.
func (s *Server) Run(ctx context.Context) error {
	// A test loses nothing with the machine. A benchmark may want what a commit takes that is safe on the disk.
	sync := "fsync=off"
	if os.Getenv(durable) != "" {
		sync = "fsync=on"
	}
	s.process = s.command(context.WithoutCancel(ctx), "postgres", "-D", s.data(), "-k", s.folder, "-c", "listen_addresses=",
		"-c", sync, "-c", "full_page_writes=off", "-c", "wal_level=minimal", "-c", "max_wal_senders=0",
		"-c", "checkpoint_timeout=1h", "-c", "autovacuum=off", "-c", "max_connections=300", "-c", "shared_buffers=128MB")
	said, err := s.process.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return err
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	s.ended = ended
	var output strings.Builder
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(said)
		open := false
		for lines.Scan() {
			if !open {
				output.WriteString(lines.Text() + "\n")
			}
			if !open && strings.Contains(lines.Text(), "ready to accept connections") {
				open = true
				close(ready)
			}
		}
		_ = s.process.Wait()
	}()
	select {
	case <-ready:
		return nil
	case <-ended:
		return fmt.Errorf("postgres ended at its start:\n%s", output.String())
	}
}

// Kill ends the server without warning, as a power cut would. What it had acknowledged is there after Run.
func (s *Server) Kill() error {
	// Its other processes notice by themselves that it is gone.
	err := s.process.Process.Kill()
	<-s.ended
	return err
}

// Abort ends the server at once, and all its processes with it.
func (s *Server) Abort() error {
	err := s.process.Process.Signal(stopSignal)
	<-s.ended
	return err
}

// Stop ends the server and removes its data.
func (s *Server) Stop() error {
	err := s.process.Process.Signal(stopSignal)
	<-s.ended
	return errors.Join(err, os.RemoveAll(s.folder))
}

// Database makes an empty database with the schema, and returns its URL.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	return s.copy(t, template)
}

// Empty makes a database without the schema.
func (s *Server) Empty(t testing.TB) string {
	t.Helper()
	return s.copy(t, "template0")
}

func (s *Server) copy(t testing.TB, from string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", s.databases.Add(1))
	require.NoError(t, s.execute(t.Context(), fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", name, from)))
	return s.URL(name)
}

// URL returns the URL of a database.
func (s *Server) URL(database string) string {
	query := url.Values{"host": {s.folder}, "user": {"postgres"}}
	return "postgres:///" + database + "?" + query.Encode()
}

// execute runs a statement that cannot be in a transaction.
func (s *Server) execute(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}
