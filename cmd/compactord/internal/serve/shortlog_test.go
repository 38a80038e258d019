package serve_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// A line for a call was longer than three lines of a usual terminal.
func TestLogIsShortOnATerminal(t *testing.T) {
	calls := func(serving func(*testing.T, ...string) *programtest.Daemon) string {
		d := serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
		programtest.Ran(t, "sessions", "--addr", d.Addr).Ends(t, terminal.ExitDone)
		require.Equal(t, terminal.ExitDone, d.Stop())
		for line := range strings.Lines(d.Log.String()) {
			if strings.Contains(line, "msg=call") {
				return line
			}
		}
		require.Fail(t, "no line for the call", d.Log.String())
		return ""
	}
	require.Regexp(t, `^time=\d\d:\d\d:\d\d level=INFO msg=call service=SessionService method=ListSessions code=OK time_ms=[0-9.]+ `+
		`request_id=[0-9a-f-]+ subject=owner\n$`, calls(programtest.ServingOnTerminal))
	whole := calls(programtest.Serving)
	for _, key := range []string{" grpc.service=compactord.v1.SessionService ", " peer.address=127.0.0.1:", " grpc.start_time="} {
		require.Contains(t, whole, key)
	}
}
