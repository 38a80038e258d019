package api_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestDefaultStore(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/state")
	require.Equal(t, "/state/compactord/compactord.db", api.DefaultStore())
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	// The daemon creates the default folder, readable only by its owner.
	d := programtest.Serving(t, "--listen", "127.0.0.1:0")
	info, err := os.Stat(home + "/compactord")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.Equal(t, terminal.ExitDone, d.Stop())
}
