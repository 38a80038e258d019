package boltstore

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
)

// held opens the file of a store as who looks at the blocks of the disk later, whatever name it has then.
func held(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	return file
}

// isZero reports whether nothing is left in a file.
func isZero(t *testing.T, file *os.File) bool {
	t.Helper()
	info, err := file.Stat()
	require.NoError(t, err)
	content := make([]byte, info.Size())
	_, err = file.ReadAt(content, 0)
	require.NoError(t, err)
	require.NotEmpty(t, content)
	return bytes.Equal(content, make([]byte, len(content)))
}

// requireAlone requires that a folder has only the store.
func requireAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, filepath.Base(path), entries[0].Name())
}

// skipWithoutLinks skips where an open file cannot be replaced.
func skipWithoutLinks(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not replace a file that is open")
	}
}

// The file that a defragmentation replaces is overwritten, also where the file system gives a file no second name.
func TestDefragOverwritesTheOldFile(t *testing.T) {
	skipWithoutLinks(t)
	for name, link := range map[string]func(string, string) error{
		"named":   nil,
		"unnamed": func(string, string) error { return errors.ErrUnsupported },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			want := withDeleted(t, path)
			old := held(t, path)
			s, err := Open(path, Options{ReadOnly: true, link: link})
			require.NoError(t, err)
			copied, err := s.Defrag(t.Context(), nil)
			require.NoError(t, err)
			require.False(t, copied.Kept)
			require.True(t, isZero(t, old))
			requireAlone(t, path)
			requireContents(t, path, want)
		})
	}
}

// Who gave the old file another name keeps it as it was.
func TestDefragKeepsAFileWithAnotherName(t *testing.T) {
	skipWithoutLinks(t)
	for name, link := range map[string]func(string, string) error{
		"named":   nil,
		"unnamed": func(string, string) error { return errors.ErrUnsupported },
	} {
		t.Run(name, func(t *testing.T) {
			path, other := filepath.Join(t.TempDir(), "store.db"), filepath.Join(t.TempDir(), "other.db")
			want := busyStore(t, path)
			require.NoError(t, os.Link(path, other))
			s, err := Open(path, Options{ReadOnly: true, link: link})
			require.NoError(t, err)
			copied, err := s.Defrag(t.Context(), nil)
			require.NoError(t, err)
			require.True(t, copied.Kept)
			requireAlone(t, path)
			requireContents(t, path, want)
			requireContents(t, other, want)
		})
	}
}

// A link that fails for another reason leaves the store as it was.
func TestDefragWithoutASecondName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	full := errors.New("no room for a name")
	s, err := Open(path, Options{ReadOnly: true, link: func(string, string) error { return full }})
	require.NoError(t, err)
	_, err = s.Defrag(t.Context(), nil)
	require.ErrorIs(t, err, full)
	requireAlone(t, path)
	requireContents(t, path, want)
}

// While another process reads the old file it is not overwritten under it, and the next run does that.
func TestDefragWhileTheOldFileIsRead(t *testing.T) {
	skipWithoutLinks(t)
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	old := held(t, path)
	reader, err := Open(path, Options{ReadOnly: true})
	require.NoError(t, err)
	s, err := Open(path, Options{ReadOnly: true})
	require.NoError(t, err)
	copied, err := s.Defrag(t.Context(), nil)
	var left *LeftError
	require.ErrorAs(t, err, &left)
	require.ErrorIs(t, err, ErrInUse)
	require.Positive(t, copied.Bytes)
	require.FileExists(t, left.Path)
	problems, err := reader.CheckStructure(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)
	require.NoError(t, reader.Close())
	requireContents(t, path, want)

	s, err = Open(path, Options{ReadOnly: true})
	require.NoError(t, err)
	_, err = s.Defrag(t.Context(), nil)
	require.NoError(t, err)
	require.True(t, isZero(t, old))
	requireAlone(t, path)
	requireContents(t, path, want)
}

// What a killed run leaves is overwritten in the background once the store is open for writing, and not by who only reads.
func TestOpenOverwritesWhatIsLeft(t *testing.T) {
	skipWithoutLinks(t)
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var left []*os.File
	for _, suffix := range []string{replacedSuffix, rewrittenSuffix} {
		require.NoError(t, os.WriteFile(path+suffix, content, 0o600))
		left = append(left, held(t, path+suffix))
	}
	requireContents(t, path, want)
	require.FileExists(t, path+replacedSuffix)

	erased := make(chan string, 2)
	s, err := Open(path, Options{Erased: func(file string, err error) {
		if err != nil {
			file = err.Error()
		}
		erased <- file
	}})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{path + replacedSuffix, path + rewrittenSuffix}, []string{<-erased, <-erased})
	for _, file := range left {
		require.True(t, isZero(t, file))
	}
	require.NoError(t, s.Close())
	requireAlone(t, path)
	requireContents(t, path, want)
}

// A second name of the store itself, which a kill left before the new file got its place, is only removed.
func TestSecondNameOfTheStore(t *testing.T) {
	skipWithoutLinks(t)
	for name, finish := range map[string]func(ctx context.Context, path string) error{
		"open": func(_ context.Context, path string) error {
			erased := make(chan error, 1)
			s, err := Open(path, Options{Erased: func(_ string, err error) { erased <- err }})
			if err != nil {
				return err
			}
			return errors.Join(<-erased, s.Close())
		},
		"defrag": func(ctx context.Context, path string) error {
			s, err := Open(path, Options{ReadOnly: true})
			if err != nil {
				return err
			}
			_, err = s.Defrag(ctx, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			want := busyStore(t, path)
			require.NoError(t, os.Link(path, path+replacedSuffix))
			require.NoError(t, finish(t.Context(), path))
			requireAlone(t, path)
			requireContents(t, path, want)
		})
	}
}

// The last file that is left is never overwritten, whatever its name.
func TestReplacedWithoutAStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	require.NoError(t, os.Rename(path, path+replacedSuffix))
	_, err := eraseReplaced(never, path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.Rename(path+replacedSuffix, path))
	requireContents(t, path, want)
}

// A copy that is given up leaves nothing in the blocks that it had.
func TestCopyThatFailsIsOverwritten(t *testing.T) {
	skipWithoutLinks(t)
	path := filepath.Join(t.TempDir(), "store.db")
	busyStore(t, path)
	s, err := Open(path, Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	to := filepath.Join(t.TempDir(), "copy.db")
	c, err := newCopy(to, s.has.form)
	require.NoError(t, err)
	c.ended, c.progress = func() error { return nil }, func(int64) {}
	file := held(t, to)
	require.NoError(t, s.view(t.Context(), func(tx *transaction) error { return c.fill(tx) }))
	require.False(t, isZero(t, file))
	require.NoError(t, c.abandon())
	require.NoFileExists(t, to)
	require.True(t, isZero(t, file))
}

// A file that is overwritten while another process opens it is no damaged store.
func TestOverwrittenWhileItIsOpened(t *testing.T) {
	skipWithoutLinks(t)
	path := filepath.Join(t.TempDir(), "store.db")
	want := busyStore(t, path)
	_, err := Open(path, Options{openFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
		file, err := os.OpenFile(name, flag, mode)
		other, openErr := Open(path, Options{ReadOnly: true})
		require.NoError(t, openErr)
		_, defragErr := other.Defrag(t.Context(), nil)
		require.NoError(t, defragErr)
		return file, err
	}})
	require.ErrorIs(t, err, ErrInUse)
	require.NotErrorIs(t, err, storage.ErrCorrupt)
	requireContents(t, path, want)
}
