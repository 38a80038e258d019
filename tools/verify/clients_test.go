package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReady(t *testing.T) {
	var out bytes.Buffer
	v := &verifier{root: t.TempDir(), out: &out}
	lack, installs, failure := "", 0, error(nil)
	c := client{
		folder: "clients/x", lock: "lock.txt", stamp: "tools/stamp.txt",
		lacks: func(*verifier, context.Context) string { return lack },
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
	require.Empty(t, out.String())

	lack = "node not found"
	ready(false, 3)
	require.Equal(t, "tests of clients/x off: node not found\n", out.String())
}

func TestLacksPython(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for program, lack := range map[string]string{
		"no-such-python": "no-such-python not found",
		self:             self + " cannot make virtual environments",
	} {
		t.Setenv("PYTHON", program)
		t.Setenv(role, "fail")
		require.Equal(t, lack, (&verifier{root: t.TempDir()}).lacksPython(t.Context()))
	}
	for says, lack := range map[string]string{
		"3.9 False":  self + " is 3.9, and 3.10 is the oldest that will do",
		"3.10 True":  "",
		"3.100 True": "",
	} {
		t.Setenv(role, "say "+says)
		require.Equal(t, lack, (&verifier{root: t.TempDir()}).lacksPython(t.Context()))
	}
}

func TestPython(t *testing.T) {
	t.Setenv("PYTHON", "python3.10")
	require.Equal(t, "python3.10", python())
	t.Setenv("PYTHON", "")
	require.Contains(t, []string{"python3", "python"}, python())
	require.Equal(t, "ruff", filepath.Base((&verifier{root: "r"}).venv("ruff"))[:4])
}
