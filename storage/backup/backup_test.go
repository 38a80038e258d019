package backup_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/storage/backup"
)

var created = time.Date(2026, 11, 28, 8, 30, 0, 0, time.UTC)

func written(t require.TestingT, content []byte, sessions int) []byte {
	var file bytes.Buffer
	c, err := backup.Write(&file, bytes.NewReader(content), sessions, created)
	require.NoError(t, err)
	require.Equal(t, int64(len(content)), c.Bytes)
	return file.Bytes()
}

// What was written is read again, however small the pieces of the stream are.
func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		content := rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(r, "content")
		file := written(r, content, 3)
		for _, from := range []io.Reader{
			bytes.NewReader(file), iotest.OneByteReader(bytes.NewReader(file)), iotest.HalfReader(bytes.NewReader(file)),
			iotest.DataErrReader(bytes.NewReader(file)),
		} {
			var to bytes.Buffer
			c, err := backup.Read(from, &to)
			require.NoError(r, err)
			require.True(r, bytes.Equal(content, to.Bytes()))
			require.Equal(r, 3, c.Sessions)
			require.Equal(r, created, c.Created)
		}
	})
}

// A stream of more than one piece is read whole.
func TestLargeBackup(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("0123456789abcde"), 300_000)
	var to bytes.Buffer
	_, err := backup.Read(bytes.NewReader(written(t, content, 0)), &to)
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, to.Bytes()))
}

// Each changed byte and each missing end is found out.
func TestDamagedBackups(t *testing.T) {
	t.Parallel()
	sound := written(t, []byte("what a store holds"), 1)
	for at := range sound {
		damaged := bytes.Clone(sound)
		damaged[at] ^= 1
		_, err := backup.Read(bytes.NewReader(damaged), io.Discard)
		require.Error(t, err, "byte %d", at)
		_, err = backup.Read(bytes.NewReader(sound[:at]), io.Discard)
		require.ErrorIs(t, err, backup.ErrIncomplete, "%d bytes", at)
	}
	damaged := bytes.Clone(sound)
	damaged[0] ^= 1
	_, err := backup.Read(bytes.NewReader(damaged), io.Discard)
	require.ErrorIs(t, err, backup.ErrDamaged)
	_, err = backup.Read(bytes.NewReader(append(bytes.Clone(sound), "more"...)), io.Discard)
	require.ErrorIs(t, err, backup.ErrIncomplete)
	_, err = backup.Read(bytes.NewReader(make([]byte, 1000)), io.Discard)
	require.ErrorIs(t, err, backup.ErrIncomplete)
	newer := bytes.Replace(sound, []byte(`"compactord_backup":1`), []byte(`"compactord_backup":2`), 1)
	_, err = backup.Read(bytes.NewReader(newer), io.Discard)
	require.ErrorIs(t, err, backup.ErrNewer)
}

// A file that is completed in place is the same backup.
func TestComplete(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	content := bytes.Repeat([]byte("content "), 1000)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = backup.Complete(file, 7, created)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	made, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(written(t, content, 7), made))
}

// Errors of the streams come out as they are.
func TestErrorsOfStreams(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := backup.Write(io.Discard, iotest.ErrReader(broken), 0, created)
	require.ErrorIs(t, err, broken)
	file := written(t, make([]byte, 1000), 0)
	_, err = backup.Read(io.MultiReader(bytes.NewReader(file[:500]), iotest.ErrReader(broken)), io.Discard)
	require.ErrorIs(t, err, broken)
	_, err = backup.Read(io.MultiReader(bytes.NewReader(file[:10]), iotest.ErrReader(broken)), io.Discard)
	require.ErrorIs(t, err, broken)
}
