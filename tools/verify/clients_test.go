package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReady(t *testing.T) {
	var out bytes.Buffer
	v := &verifier{root: t.TempDir(), out: &out}
	found, lack, installs, failure := "python 3.10", "", 0, error(nil)
	c := client{
		folder: "clients/x", lock: "lock.txt", stamp: "tools/stamp.txt",
		language: func(*verifier, context.Context) (string, string) { return found, lack },
		install: func(v *verifier, _ context.Context) error {
			installs++
			require.NoFileExists(t, v.in("clients/x/tools/stamp.txt"), "what is interrupted must not look whole")
			require.NoError(t, os.MkdirAll(v.in("clients/x/tools"), 0o755))
			return failure
		},
	}
	ready := func(want bool, total int) {
		t.Helper()
		is, err := v.ready(t.Context(), c, "tests")
		require.NoError(t, err)
		require.Equal(t, want, is)
		require.Equal(t, total, installs)
	}
	_, err := v.ready(t.Context(), c, "tests")
	require.ErrorIs(t, err, os.ErrNotExist, "a clone without the client")

	require.NoError(t, write(v.root, "clients/x/lock.txt", "one"))
	ready(true, 1)
	ready(true, 1)
	require.NoError(t, write(v.root, "clients/x/lock.txt", "two"))
	failure = errors.New("no network")
	_, err = v.ready(t.Context(), c, "tests")
	require.ErrorIs(t, err, failure)
	failure = nil
	ready(true, 3)
	ready(true, 3)
	found = "python 3.11"
	ready(true, 4)
	ready(true, 4)
	moved := filepath.Join(t.TempDir(), "moved")
	require.NoError(t, os.CopyFS(moved, os.DirFS(v.root)))
	v.root = moved
	ready(true, 5)
	ready(true, 5)
	require.Empty(t, out.String())

	lack = "node not found"
	ready(false, 5)
	require.Equal(t, "tests of clients/x off: node not found\n", out.String())
}

func TestPythonOfThisMachine(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	python := func(program, says, wantFound, wantLack string) {
		t.Helper()
		t.Setenv("PYTHON", program)
		t.Setenv(role, says)
		found, lack := (&verifier{root: t.TempDir()}).python(t.Context())
		require.Equal(t, wantFound, found)
		require.Equal(t, wantLack, lack)
	}
	python("no-such-python", "fail", "", "no-such-python not found")
	python(self, "fail", "", self+" cannot make virtual environments")
	python(self, "say False 3.9.1 /usr/bin/python3.9", "", self+" is 3.9.1, and 3.10 is the oldest that works")
	python(self, "say True 3.10.2 /usr/bin/python3.10", "3.10.2 /usr/bin/python3.10", "")
	python(self, "say True 3.100.0 /my python", "3.100.0 /my python", "")
}

func TestNodeOfThisMachine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs are not found by such links there")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	path := t.TempDir()
	t.Setenv("PATH", path)
	node := func(says, wantFound, wantLack string) {
		t.Helper()
		t.Setenv(role, says)
		found, lack := (&verifier{root: t.TempDir()}).node(t.Context())
		require.Equal(t, wantFound, found)
		require.Equal(t, wantLack, lack)
	}
	node("say v20.0.0", "", "node not found")
	require.NoError(t, os.Symlink(self, filepath.Join(path, "node")))
	node("say v20.0.0", "", "npm not found")
	require.NoError(t, os.Symlink(self, filepath.Join(path, "npm")))
	node("fail", "", "node does not say its version")
	node("say what", "", "node does not say its version")
	node("say v18.20.4", "", "node is v18.20.4, and 20 is the oldest that works")
	node("say v9.1.0", "", "node is v9.1.0, and 20 is the oldest that works")
	node("say v20.0.0", "node v20.0.0", "")
	node("say v100.2.1", "node v100.2.1", "")
}

func TestInterpreter(t *testing.T) {
	t.Setenv("PYTHON", "python3.10")
	require.Equal(t, "python3.10", interpreter())
	t.Setenv("PYTHON", "")
	require.Contains(t, []string{"python3", "python"}, interpreter())
	require.Equal(t, "ruff", filepath.Base((&verifier{root: "r"}).venv("ruff"))[:4])
}
