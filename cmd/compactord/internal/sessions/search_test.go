package sessions_test

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

func TestSearch(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", sample.Talk(30))
	r := programtest.Ran(t, "search", "failing NUMBER 29", path).Ends(t, terminal.ExitDone)
	require.Equal(t, "#116.0  user  line 1: Fix the failing test number 29 in pkg/parser.go.\n", r.Out)
	r = programtest.Ran(t, "search", "-e", `parse1[0-2]\(`, path, "--role", "tool", "--newest-first").Ends(t, terminal.ExitDone)
	require.Equal(t, []string{"#50.0.0", "#46.0.0", "#42.0.0"}, sample.FirstWords(r.Out))
	r = programtest.Ran(t, "search", "test", path, "--limit", "3").Ends(t, terminal.ExitDone).Says(t, "There are more. All of them: compactord search test "+path+" --limit 0\n")
	require.Len(t, sample.FirstWords(r.Out), 3)
	require.Len(t, sample.FirstWords(programtest.Ran(t, "search", "test", path, "--limit", "0").Ends(t, terminal.ExitDone).Out), 60)
	programtest.Ran(t, "search", "nowhere", path).Ends(t, terminal.ExitNothing)
	programtest.Ran(t, "search", "-e", "(", path).Ends(t, terminal.ExitUsage)
	programtest.Ran(t, "search", "x", path, "--role", "robot").Ends(t, terminal.ExitUsage)
	on := programtest.FiveTurns(t)
	on("revert", "--session", "s", "--turns", "1").Ends(t, terminal.ExitDone)
	sample.Contains(t, on("search", "number 4", "--session", "s", "--state", "put-aside").Ends(t, terminal.ExitDone).Out, "#16.0  user, put aside  line 1: ")
	on("search", "number 4", "--session", "s", "--state", "active").Ends(t, terminal.ExitNothing)
}

// stopping passes calls on to a daemon, which it stops after the first page of a search.
type stopping struct {
	compactordv1.UnimplementedSessionServiceServer
	daemon compactordv1.SessionServiceClient
	stop   func()
}

func (s *stopping) GetSession(ctx context.Context, req *compactordv1.GetSessionRequest) (*compactordv1.GetSessionResponse, error) {
	return s.daemon.GetSession(ctx, req)
}

func (s *stopping) SearchMessages(
	ctx context.Context, req *compactordv1.SearchMessagesRequest,
) (*compactordv1.SearchMessagesResponse, error) {
	if req.GetPageToken() != "" {
		s.stop()
	}
	req.PageSize = 2
	return s.daemon.SearchMessages(ctx, req)
}

// What a search has found before a daemon stops is printed, together with the error.
func TestSearchThatIsCutOff(t *testing.T) {
	for _, json := range []bool{false, true} {
		d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
		programtest.Ran(t, "import", sample.File(t, "talk.jsonl", sample.Talk(5)), "--session", "s", "--addr", d.Addr).Ends(t, terminal.ExitDone)
		between := grpc.NewServer()
		compactordv1.RegisterSessionServiceServer(between, &stopping{
			daemon: compactordv1.NewSessionServiceClient(programtest.Connection(t, d.Addr)),
			stop:   func() { require.Equal(t, terminal.ExitDone, d.Stop()) },
		})
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		ended := make(chan error, 1)
		go func() { ended <- between.Serve(listener) }()
		args := []string{"search", "failing test number", "--session", "s", "--addr", listener.Addr().String()}
		if json {
			args = append(args, "--json")
		}
		r := programtest.Ran(t, args...).Ends(t, terminal.ExitFailed).Says(t, "compactord: the search was cut off after 2 hits: ")
		require.NotContains(t, r.Err, "There are more")
		if json {
			document := sample.Document(t, r.Out)
			require.Len(t, sample.At(t, document, "hits"), 2)
			require.Equal(t, true, sample.At(t, document, "has_more"))
		} else {
			require.Equal(t, []string{"#0.0", "#4.0"}, sample.FirstWords(r.Out))
		}
		between.Stop()
		require.NoError(t, <-ended)
	}
}
