package audit

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// full is a file on a disk that becomes full in the middle of a line.
type full struct {
	file
	left int
}

func (f *full) Write(line []byte) (int, error) {
	n, err := f.file.Write(line[:min(f.left, len(line))])
	f.left -= n
	if err == nil && n < len(line) {
		err = syscall.ENOSPC
	}
	return n, err
}

// A line of which a full disk took only a part spoils no other line.
func TestLineThatIsCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	l, err := Open(path, slog.New(slog.DiscardHandler), NewFailures(), nil)
	require.NoError(t, err)
	l.Write(t.Context(), Entry{Session: "1"})
	disk := &full{file: l.file, left: 10}
	l.file = disk
	l.Write(t.Context(), Entry{Session: "2"})
	l.Write(t.Context(), Entry{Session: "3"})
	disk.left = 1 << 20
	l.Write(t.Context(), Entry{Session: "4"})
	l.Write(t.Context(), Entry{Session: "5"})
	require.NoError(t, l.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	require.Len(t, lines, 4)
	for i, want := range []string{`"session":"1"`, "", `"session":"4"`, `"session":"5"`} {
		require.Contains(t, lines[i], want)
	}
	require.Len(t, lines[1], 10, "the part of a line")
}
