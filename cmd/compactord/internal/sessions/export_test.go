package sessions_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

// An export has all messages as the client wrote them.
func TestExport(t *testing.T) {
	store := anystore.Place(t)
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	programtest.Ran(t, "compact", "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	r := programtest.Ran(t, "export", "--session", "s", "--store", store, "--to", "openai_chat", "-q").Ends(t, terminal.ExitDone)
	want := strings.Split(strings.TrimSpace(sample.Talk(120)), "\n")
	have := strings.Split(strings.TrimSpace(r.Out), "\n")
	require.Len(t, have, len(want), "what was compacted is there too")
	for i := range want {
		require.JSONEq(t, want[i], have[i])
	}
	r = programtest.Ran(t, "export", "--session", "s", "--store", store, "--to", "markdown").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "## #479 assistant\n")
	programtest.Ran(t, "export", "--session", "nobody", "--store", store, "--to", "gemini").Ends(t, terminal.ExitFailed).Says(t, `no session "nobody"`)
}

func TestExportLeavesOutWhatWasPutAside(t *testing.T) {
	store := anystore.Place(t)
	programtest.Ran(t, "import", sample.File(t, "talk.jsonl", sample.Talk(2)), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	a := &api.App{Terminal: terminal.Terminal{Stderr: io.Discard}}
	c, err := (&api.Where{Store: store}).Open(t.Context(), a, false)
	require.NoError(t, err)
	_, err = c.Sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 4},
	})
	require.NoError(t, errors.Join(err, c.Close()))
	r := programtest.Ran(t, "export", "--session", "s", "--store", store, "--to", "openai_chat", "-q").Ends(t, terminal.ExitDone)
	require.Equal(t, 4, strings.Count(r.Out, "\n"))
}

// A session with all that views show beside the messages of the log: other instructions, a context block, a fold, and the
// result of a child.
func exportedSession(t *testing.T, addr string) {
	t.Helper()
	conn := programtest.Connection(t, addr)
	daemon := compactordv1.NewSessionServiceClient(conn)
	said := func(role compactordv1.Role, text string) *compactordv1.Message {
		return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{
			{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}},
		}}
	}
	_, err := daemon.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	_, err = daemon.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: []*compactordv1.Message{
		said(compactordv1.Role_ROLE_SYSTEM, "Be careful."),
		said(compactordv1.Role_ROLE_USER, "Look into the queue. "+strings.Repeat("It is slow. ", 50)),
		said(compactordv1.Role_ROLE_ASSISTANT, "A stale lock."),
		said(compactordv1.Role_ROLE_USER, "And the tests?"),
	}})
	require.NoError(t, err)
	_, err = daemon.ReplaceInstructions(t.Context(), &compactordv1.ReplaceInstructionsRequest{
		SessionId: "s", Messages: []*compactordv1.Message{said(compactordv1.Role_ROLE_SYSTEM, "Be fast.")},
	})
	require.NoError(t, err)
	_, err = daemon.UpdateContextBlocks(t.Context(), &compactordv1.UpdateContextBlocksRequest{
		SessionId: "s", Set: []*compactordv1.ContextBlock{
			{Name: "plan", Parts: said(compactordv1.Role_ROLE_USER, "1. the queue 2. the tests").GetParts()},
		},
	})
	require.NoError(t, err)
	stream, err := compactordv1.NewCompactionServiceClient(conn).Compact(t.Context(), &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: "s"},
		Fold: &compactordv1.FoldRange{
			From: &compactordv1.FoldRange_Start{Start: 1}, End: proto.Uint32(3), Text: "The queue had a stale lock.",
		},
	})
	require.NoError(t, err)
	for err == nil {
		_, err = stream.Recv()
	}
	require.ErrorIs(t, err, io.EOF)
	_, err = daemon.ForkSession(t.Context(), &compactordv1.ForkSessionRequest{
		SessionId: "s", NewSessionId: "c", Child: &compactordv1.ChildContext{Sees: compactordv1.ChildSees_CHILD_SEES_NOTHING},
	})
	require.NoError(t, err)
	_, err = daemon.EndChild(t.Context(), &compactordv1.EndChildRequest{SessionId: "c", Result: "The tests pass."})
	require.NoError(t, err)
}

// An export has the messages of the log, and says what else the model sees or can recall. What is imported from it is a
// session of these messages alone. The list of a view, imported, gives the same list again.
func TestExportSaysWhatItLeavesOut(t *testing.T) {
	for _, dialect := range []string{"openai_chat", "openai_responses", "anthropic", "gemini"} {
		t.Run(dialect, func(t *testing.T) {
			d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
			on := func(args ...string) programtest.Answer { return programtest.Ran(t, append(args, "--addr", d.Addr)...) }
			exportedSession(t, d.Addr)
			r := on("export", "--session", "s", "--to", dialect).Ends(t, terminal.ExitDone).
				Says(t, "views begin with instructions that replaced those of the log; the export has those of the log\n").
				Says(t, "1 context block left out: blocks are no messages\n").
				Says(t, "the logs of 1 child left out: export each of them\n")
			require.Empty(t, on("export", "--session", "s", "--to", dialect, "-q").Ends(t, terminal.ExitDone).Err)
			on("import", sample.File(t, "log.jsonl", r.Out), "--session", "log", "-q").Ends(t, terminal.ExitDone)
			whole := on("view", "--session", "log", "--messages").Ends(t, terminal.ExitDone).Out
			for _, text := range []string{"It is slow.", "A stale lock.", "And the tests?", "The tests pass."} {
				sample.Contains(t, whole, text)
			}
			for _, text := range []string{"Be fast.", "1. the queue", "The queue had a stale lock."} {
				require.NotContains(t, whole, text)
			}
			require.Empty(t, on("export", "--session", "log", "--to", dialect).Ends(t, terminal.ExitDone).Err[len("reading session log\n"):])

			shown := on("view", "--session", "s", "--dialect", dialect).Ends(t, terminal.ExitDone).Out
			sample.Contains(t, shown, "Be fast.")
			sample.Contains(t, shown, "The queue had a stale lock.")
			on("import", sample.File(t, "view.json", shown), "--session", "view", "-q").Ends(t, terminal.ExitDone)
			require.JSONEq(t, shown, on("view", "--session", "view", "--dialect", dialect).Ends(t, terminal.ExitDone).Out)
			require.Equal(t, terminal.ExitDone, d.Stop())
		})
	}
}
