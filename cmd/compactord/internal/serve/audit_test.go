package serve_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

// The daemon writes a line for each call before it answers, and a new file once the old one was moved away.
func TestAuditLogOfADaemon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--audit-log", path)
	sessions := compactordv1.NewSessionServiceClient(programtest.Connection(t, d.Addr))
	create := func(id string) {
		_, err := sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: id})
		require.NoError(t, err)
	}
	read := func(path string) string {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(content)
	}
	create("a")
	require.Regexp(t, `^\{"time":"[^"]+","tenant":"","subject":"[^"]+","role":"admin","rpc":"SessionService/CreateSession","session":"a",`+
		`"code":"OK","request_id":"[^"]+"\}\n$`, read(path))
	require.NoError(t, os.Rename(path, path+".1"))
	create("b")
	require.Equal(t, 1, strings.Count(read(path+".1"), "\n"))
	require.Contains(t, read(path), `"session":"b"`)
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.NotContains(t, d.Log.String(), "audit log not written")
}

// A daemon that cannot write its audit log does not start.
func TestAuditLogThatCannotBeWritten(t *testing.T) {
	store := anystore.File(t)
	for says, path := range map[string]string{
		"no such file or directory":   filepath.Join(t.TempDir(), "none", "audit.log"),
		"not a regular file":          t.TempDir(),
		"it is the file of the store": store,
	} {
		r := programtest.Ran(t, "serve", "--listen", "127.0.0.1:0", "--store", store, "--audit-log", path)
		require.NotEqual(t, terminal.ExitDone, r.Code)
		r.Says(t, says).Says(t, "--audit-log: ")
	}
}
