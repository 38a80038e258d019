package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// role makes this test binary act as the command that a test runs.
const role = "VERIFY_TEST_ROLE"

func TestMain(m *testing.M) {
	said, says := strings.CutPrefix(os.Getenv(role), "say ")
	switch {
	case says:
		fmt.Fprintln(os.Stdout, said)
	case os.Getenv(role) == "":
		os.Exit(m.Run())
	case os.Getenv(role) == "fail":
		fmt.Fprint(os.Stderr, "it broke\n")
		os.Exit(7)
	default:
		os.Exit(hang(os.Getenv(role)))
	}
}

// hang waits to be killed. It acts as a parent with a child, or as a child that ignores interrupts.
func hang(as string) int {
	if as == "child" {
		signal.Ignore(os.Interrupt)
		fmt.Fprintln(os.Stdout, "child")
		select {}
	}
	child := exec.CommandContext(context.Background(), os.Args[0])
	child.Env = append(os.Environ(), role+"=child")
	child.Stdout = os.Stdout
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = child.Wait()
	return 0
}

func TestRunReportsFailure(t *testing.T) {
	var out, errOut bytes.Buffer
	v := &verifier{root: t.TempDir(), out: &out, err: &errOut}
	err := v.run(t.Context(), command{args: []string{os.Args[0], "word"}, env: []string{role + "=fail"}, hint: "fix it"})
	require.ErrorContains(t, err, " word: exit status 7; fix it")
	require.Equal(t, 7, exitCode(err))
	require.Equal(t, "it broke\n", errOut.String())
	require.Regexp(t, `^==> \S+ word\n    failed after [0-9.]+m?s\n$`, out.String())
}

func TestExitCode(t *testing.T) {
	require.Equal(t, 130, exitCode(fmt.Errorf("lint: %w", errInterrupted)))
	require.Equal(t, 1, exitCode(errors.New("stale")))
}

func TestCommandString(t *testing.T) {
	require.Equal(t, "buf lint", command{args: []string{"/somewhere/.bin/buf", "lint"}}.String())
	require.Equal(t, "go vet (in tools)", command{args: []string{"go", "vet"}, folder: "tools"}.String())
}

func TestHasCompiler(t *testing.T) {
	v := &verifier{root: t.TempDir(), err: os.Stderr}
	for setting, want := range map[string]bool{"no-such-compiler -O2": false, "go": true, "go tool": true} {
		t.Setenv("CC", setting)
		has, err := v.hasCompiler(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, has, setting)
	}
}

// Without Node, all other tests still run, and the run reports it.
func TestInstallMock(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	t.Setenv(role, "fail")
	self, err := os.Executable()
	require.NoError(t, err)
	var out bytes.Buffer
	v := &verifier{root: t.TempDir(), out: &out, err: &bytes.Buffer{}}
	require.NoError(t, write(v.root, mockFolder+"/package-lock.json", "{}"))
	for _, program := range []string{"node", "npm"} {
		require.NoError(t, v.installMock(t.Context()))
		require.Equal(t, "tests against the mock of e2e/aimock off: "+program+" not found\n", out.String())
		out.Reset()
		if err := os.Symlink(self, filepath.Join(folder, program)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	require.ErrorContains(t, v.installMock(t.Context()),
		"npm ci --ignore-scripts --no-audit --no-fund (in e2e/aimock): exit status 7")
	t.Setenv(role, "say nothing")
	require.NoError(t, os.Mkdir(v.in(mockFolder, "node_modules"), 0o700))
	require.NoError(t, v.installMock(t.Context()))
	out.Reset()
	require.NoError(t, v.installMock(t.Context()))
	require.Empty(t, out.String(), "it is installed once")
}

// A machine with PostgreSQL needs no other. One without gets it, or leaves its tests out and reports that.
func TestInstallPostgres(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	t.Setenv(role, "fail")
	self, err := os.Executable()
	require.NoError(t, err)
	var out bytes.Buffer
	v := &verifier{root: t.TempDir(), out: &out, err: &bytes.Buffer{}}
	require.NoError(t, write(v.root, postgresFolder+"/package-lock.json", "{}"))
	require.NoError(t, v.installPostgres(t.Context()))
	require.Equal(t, "tests on PostgreSQL of storage/postgres/postgrestest off: node not found\n", out.String())
	add := func(programs ...string) {
		for _, program := range programs {
			if err := os.Symlink(self, filepath.Join(folder, program)); err != nil {
				t.Skip("no symbolic links here:", err)
			}
		}
	}
	add("node", "npm", "postgres")
	require.ErrorContains(t, v.installPostgres(t.Context()), "(in storage/postgres/postgrestest): exit status 7")
	add("initdb")
	require.NoError(t, v.installPostgres(t.Context()))
}
