package trusted_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/trusted"
)

func TestFilesThatOthersCanReadOrChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode                  os.FileMode
		read, secret, private string
	}{
		{0o600, "", "", ""},
		{0o640, "", "", "others than its owner can read or change it (mode 0640): take that away with chmod 600"},
		{0o660, "", "", "(mode 0660)"},
		{0o644, "", "everybody on this machine can read or change it (mode 0644): take that away with chmod o-rw", "(mode 0644)"},
		{0o602, "everybody on this machine can change it (mode 0602): take that away with chmod o-w", "(mode 0602)", "(mode 0602)"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(path, []byte("content"), 0o600))
		require.NoError(t, os.Chmod(path, c.mode))
		for name, try := range map[string]struct {
			read   func(string, int64) ([]byte, error)
			refuse string
		}{"read": {trusted.Read, c.read}, "secret": {trusted.ReadSecret, c.secret}, "private": {trusted.ReadPrivate, c.private}} {
			content, err := try.read(path, 4)
			if try.refuse != "" {
				require.ErrorContains(t, err, try.refuse, "%s %o", name, c.mode)
				require.ErrorIs(t, err, trusted.ErrExposed)
				continue
			}
			require.NoError(t, err, "%s %o", name, c.mode)
			require.Equal(t, "cont", string(content))
		}
	}
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	t.Parallel()
	_, err := trusted.Read(t.TempDir(), 1)
	require.EqualError(t, err, "it is not a regular file")
	_, err = trusted.ReadSecret(filepath.Join(t.TempDir(), "none"), 1)
	require.ErrorIs(t, err, os.ErrNotExist)
}
