package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/audit"
)

// opened opens a log, with what it logs of itself and what it could not write.
func opened(t *testing.T, path string) (l *audit.Log, said *bytes.Buffer, failed prometheus.Counter) {
	t.Helper()
	said, failed = &bytes.Buffer{}, audit.NewFailures()
	l, err := audit.Open(path, slog.New(slog.NewTextHandler(said, nil)), failed, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l, said, failed
}

// sessionsIn are the sessions of the lines of a file.
func sessionsIn(t *testing.T, path string) (all []string) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		var e audit.Entry
		if json.Unmarshal([]byte(line), &e) == nil {
			all = append(all, e.Session)
		}
	}
	return all
}

func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	l, _, _ := opened(t, path)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600))
	l.Write(t.Context(), audit.Entry{
		Time: at, Tenant: "t", Subject: "who", Role: "write", RPC: "S/M", Session: "a\"\n<b>", NewSession: "c", Code: "OK", RequestID: "r",
	})
	l.Write(t.Context(), audit.Entry{Time: at, RPC: "S/M", Code: "UNAUTHENTICATED"})
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, `{"time":"2026-01-02T02:04:05.000006Z","tenant":"t","subject":"who","role":"write","rpc":"S/M",`+
		`"session":"a\"\n\u003cb\u003e","new_session":"c","code":"OK","request_id":"r"}
{"time":"2026-01-02T02:04:05.000006Z","tenant":"","subject":"","role":"","rpc":"S/M","code":"UNAUTHENTICATED"}
`, string(content))
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.EqualValues(t, 0o600, info.Mode().Perm())
	}
}

// Lines of a file that was moved away go to a new one, also while many write, and none is lost.
func TestRotation(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "audit.log")
	l, said, _ := opened(t, path)
	const writers, lines, rotations = 4, 50, 5
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for range lines {
				l.Write(t.Context(), audit.Entry{Session: "s"})
			}
		})
	}
	for i := range rotations {
		// Nobody may have written since the last one.
		_ = os.Rename(path, path+string(rune('1'+i)))
	}
	writing.Wait()
	require.NoError(t, l.Reopen())
	l.Write(t.Context(), audit.Entry{Session: "s"})
	all, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	require.Greater(t, len(all), 1)
	total := 0
	for _, file := range all {
		total += len(sessionsIn(t, file))
	}
	require.Equal(t, writers*lines+1, total)
	require.NoError(t, os.Remove(path))
	l.Write(t.Context(), audit.Entry{Session: "after"})
	require.Equal(t, []string{"after"}, sessionsIn(t, path))
	require.Empty(t, said.String())
}

// Entries that cannot be written are counted, and said once until they can.
func TestFailures(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "there")
	require.NoError(t, os.Mkdir(folder, 0o700))
	path := filepath.Join(folder, "audit.log")
	l, said, failed := opened(t, path)
	l.Write(t.Context(), audit.Entry{Session: "1"})
	require.NoError(t, os.Rename(folder, folder+"-moved"))
	for range 3 {
		l.Write(t.Context(), audit.Entry{Session: "2"})
	}
	require.Error(t, l.Reopen())
	requireCounted(t, 3, failed)
	require.Equal(t, 1, strings.Count(said.String(), "audit log not written"))
	require.NoError(t, os.Mkdir(folder, 0o700))
	l.Write(t.Context(), audit.Entry{Session: "3"})
	require.Equal(t, []string{"3"}, sessionsIn(t, path))
	require.Equal(t, 1, strings.Count(said.String(), "written again"))
	require.NoError(t, l.Close())
	l.Write(t.Context(), audit.Entry{Session: "4"})
	requireCounted(t, 4, failed)
	require.Error(t, l.Reopen())
}

func TestRefusedFiles(t *testing.T) {
	folder := t.TempDir()
	open := map[string]uint32{"0644": 0o644, "0602": 0o602}
	for name, mode := range open {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chmod(path, os.FileMode(mode)))
		_, err := audit.Open(path, slog.New(slog.DiscardHandler), audit.NewFailures(), nil)
		require.True(t, runtime.GOOS == "windows" || err != nil, name)
		if runtime.GOOS != "windows" {
			require.ErrorContains(t, err, name)
		}
	}
	_, err := audit.Open(folder, slog.New(slog.DiscardHandler), audit.NewFailures(), nil)
	require.ErrorContains(t, err, "not a regular file")
	_, err = audit.Open(filepath.Join(folder, "none", "x"), slog.New(slog.DiscardHandler), audit.NewFailures(), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Without a file, nothing is written.
func TestNoLog(t *testing.T) {
	var l *audit.Log
	l.Write(t.Context(), audit.Entry{})
	require.NoError(t, l.Reopen())
	require.NoError(t, l.Close())
}

// Each line asks for the room that it takes. One that is refused is counted and leaves nothing in the file.
func TestLinesAskForRoom(t *testing.T) {
	path, failed := filepath.Join(t.TempDir(), "audit.log"), audit.NewFailures()
	low, asked, ended := false, 0, 0
	l, err := audit.Open(path, slog.New(slog.DiscardHandler), failed, func(bytes int) (func(), error) {
		if low {
			return nil, errors.New("the disk is low")
		}
		asked += bytes
		return func() { ended += bytes }, nil
	})
	require.NoError(t, err)
	l.Write(t.Context(), audit.Entry{Session: "1"})
	low = true
	l.Write(t.Context(), audit.Entry{Session: "2"})
	low = false
	l.Write(t.Context(), audit.Entry{Session: "3"})
	require.NoError(t, l.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, content, asked)
	require.Equal(t, asked, ended)
	require.Equal(t, 2, strings.Count(string(content), "\n"))
	require.NotContains(t, string(content), `"session":"2"`)
	requireCounted(t, 1, failed)
}
