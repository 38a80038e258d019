package access

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTokenFileIsMadeOnce(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "token")
	require.NoError(t, MakeTokenFile(path))
	token, err := ReadTokenFile(path)
	require.NoError(t, err)
	hashOf(t, token)
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	}
	require.NoError(t, MakeTokenFile(path))
	again, err := ReadTokenFile(path)
	require.NoError(t, err)
	require.Equal(t, token, again)
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, left, 1, "no other file is left")
}

// Daemons that start at the same time use one token, and whoever reads meanwhile finds it whole or not at all.
func TestTokenFileAppearsWhole(t *testing.T) {
	for range 50 {
		path := filepath.Join(t.TempDir(), "token")
		const daemons = 4
		tokens := make([]string, daemons)
		var group sync.WaitGroup
		for i := range daemons {
			group.Go(func() {
				if err := MakeTokenFile(path); err != nil {
					t.Error(err)
				}
				tokens[i], _ = ReadTokenFile(path)
			})
		}
		for {
			_, err := ReadTokenFile(path)
			if err == nil {
				break
			}
			if !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
				break
			}
		}
		group.Wait()
		for _, token := range tokens {
			require.Equal(t, tokens[0], token)
		}
		hashOf(t, tokens[0])
	}
}

func TestTokenFilesThatAreRefused(t *testing.T) {
	token := NewToken()
	for name, test := range map[string]struct {
		content string
		mode    fs.FileMode
		says    string
	}{
		"the group may read":     {token, 0o640, "(mode 0640): take that away with chmod 600"},
		"everybody may read":     {token, 0o604, "(mode 0604)"},
		"everybody may write":    {token, 0o602, "(mode 0602)"},
		"empty":                  {"", 0o600, "it holds no token"},
		"cut":                    {token[:40], 0o600, "it holds no token"},
		"two":                    {token + "\n" + token, 0o600, "it holds no token"},
		"another kind of secret": {"correct horse battery staple", 0o600, "it holds no token"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "token")
			require.NoError(t, os.WriteFile(path, []byte(test.content), test.mode))
			require.NoError(t, os.Chmod(path, test.mode))
			_, err := ReadTokenFile(path)
			require.ErrorContains(t, err, test.says)
			require.NotContains(t, err.Error(), token[5:20])
			require.NotContains(t, err.Error(), "horse")
		})
	}
	_, err := ReadTokenFile(t.TempDir())
	require.ErrorContains(t, err, "not a regular file")
}

// A file of somebody else is not to be changed or removed: it holds no token.
func TestOpenFileWithoutToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hostname")
	require.NoError(t, os.WriteFile(path, []byte("here\n"), 0o600))
	for _, mode := range []os.FileMode{0o644, 0o755} {
		require.NoError(t, os.Chmod(path, mode))
		_, err := ReadTokenFile(path)
		require.ErrorIs(t, err, ErrNoToken)
		require.NotContains(t, err.Error(), "remove")
	}
}
