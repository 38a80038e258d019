package trusted_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/trusted"
)

func TestVersionsOfAFile(t *testing.T) {
	t.Parallel()
	stamp := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, change := range map[string]func(path string) error{
		"its content":      func(path string) error { return os.WriteFile(path, []byte("longer"), 0o600) },
		"its time":         func(path string) error { return os.Chtimes(path, stamp, stamp.Add(time.Second)) },
		"its mode":         func(path string) error { return os.Chmod(path, 0o644) },
		"its disappearing": os.Remove,
		"another one in its place": func(path string) error {
			if err := os.WriteFile(path+".new", []byte("same"), 0o600); err != nil {
				return err
			}
			if err := os.Chtimes(path+".new", stamp, stamp); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "file")
			require.True(t, trusted.Look(path).Same(trusted.Version{}), "there is none")
			require.NoError(t, os.WriteFile(path, []byte("same"), 0o600))
			require.NoError(t, os.Chtimes(path, stamp, stamp))
			before := trusted.Look(path)
			require.False(t, before.Same(trusted.Version{}))
			require.True(t, before.Same(trusted.Look(path)))
			require.NoError(t, change(path))
			require.False(t, before.Same(trusted.Look(path)))
		})
	}
}
