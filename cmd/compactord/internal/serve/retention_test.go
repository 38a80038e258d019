package serve_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

// The daemon deletes what the file says, and says so in the audit log.
func TestRetentionOfADaemon(t *testing.T) {
	store, path := anystore.Place(t), filepath.Join(t.TempDir(), "audit.log")
	for _, id := range []string{"older", "newer"} {
		programtest.Ran(t, "import", sample.TalkFile(t), "--session", id, "--store", store).Ends(t, terminal.ExitDone)
	}
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", store, "--audit-log", path,
		"--config", sample.File(t, "config.yaml", "retention: {count: 1}\n"))
	sessions := compactordv1.NewSessionServiceClient(programtest.Connection(t, d.Addr))
	for {
		_, err := sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "older"})
		if err != nil {
			require.Equal(t, codes.NotFound, status.Code(err))
			break
		}
	}
	_, err := sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "newer"})
	require.NoError(t, err)
	require.Equal(t, terminal.ExitDone, d.Stop())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(content), `"subject":"retention","role":"","rpc":"SessionService/DeleteSession","session":"older","code":"OK"`)
	require.Contains(t, d.Log.String(), "session deleted by retention")
}
