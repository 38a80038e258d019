package postgrestest

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bouncerPort names the socket of a PgBouncer.
const bouncerPort = "6432"

// bouncerSettings are those of `compactord help scaling`, with so few connections to the server that transactions of several
// clients take turns on each.
const bouncerSettings = `[databases]
* = host=%s user=postgres

[pgbouncer]
listen_addr =
listen_port = %s
unix_socket_dir = %s
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 1000
ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout
`

// Bouncer runs a PgBouncer in transaction mode before the server, until the test ends. It returns how the URL of a database
// becomes the one through it; before 1.21, that prepares no statements. It skips the test where no such program is in PATH.
func (s *Server) Bouncer(t testing.TB) func(database string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("pgbouncer is not in PATH")
	}
	// The user of the server reads it, so it is where the server is, and removed with it.
	folder := filepath.Join(s.folder, fmt.Sprint("bouncer", s.databases.Add(1)))
	require.NoError(t, os.Mkdir(folder, 0o755))
	settings := fmt.Sprintf(bouncerSettings, s.folder, bouncerPort, folder)
	prepares := bouncerPrepares(t, program)
	if prepares {
		settings += "max_prepared_statements = 100\n"
	}
	file := filepath.Join(folder, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(file, []byte(settings), 0o644))
	require.NoError(t, ownFolder(folder))
	s.runBouncer(t, program, file)
	return func(database string) string {
		through, err := url.Parse(database)
		require.NoError(t, err)
		query := through.Query()
		query.Set("host", folder)
		query.Set("port", bouncerPort)
		if !prepares {
			query.Set("default_query_exec_mode", "exec")
		}
		through.RawQuery = query.Encode()
		return through.String()
	}
}

// runBouncer runs the program until the test ends, and returns once it listens.
func (s *Server) runBouncer(t testing.TB, program, file string) {
	t.Helper()
	// The context of the test ends before its clean-up.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, file)
	asUser(cmd)
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	up, ended := make(chan struct{}), make(chan struct{})
	var output strings.Builder
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(said)
		for open := false; lines.Scan(); {
			if !open {
				output.WriteString(lines.Text() + "\n")
				if open = strings.Contains(lines.Text(), "process up"); open {
					close(up)
				}
			}
		}
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	select {
	case <-up:
	case <-ended:
		t.Fatalf("pgbouncer ended at its start:\n%s", output.String())
	}
}

// bouncerPrepares says whether a PgBouncer passes on prepared statements in transaction mode: 1.21 and later.
func bouncerPrepares(t testing.TB, program string) bool {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), program, "--version").Output()
	require.NoError(t, err)
	var major, minor int
	_, err = fmt.Sscanf(string(said), "PgBouncer %d.%d", &major, &minor)
	require.NoError(t, err, "%s", said)
	return major > 1 || minor >= 21
}
