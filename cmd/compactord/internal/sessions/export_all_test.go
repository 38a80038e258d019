package sessions_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/anystore"
)

// An export of all has each kind of what a store keeps of a session, each kind of record, all that a revert put aside, and
// the same of children.
func TestExportOfAllThatIsStored(t *testing.T) {
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
	addr := d.Addr
	exportedSession(t, addr)
	daemon := compactordv1.NewSessionServiceClient(programtest.Connection(t, addr))
	ctx := t.Context()
	_, err := daemon.CreateCheckpoint(ctx, &compactordv1.CreateCheckpointRequest{SessionId: "s", Title: "marker-checkpoint"})
	require.NoError(t, err)
	_, err = daemon.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
		SessionId: "s", RequestId: "marker-request", Messages: []*compactordv1.Message{{
			Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{{
				Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: "marker-aside"}},
			}},
		}},
	})
	require.NoError(t, err)
	_, err = daemon.RevertToCheckpoint(ctx, &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_CheckpointId{CheckpointId: 1},
	})
	require.NoError(t, err)

	r := programtest.Ran(t, "export", "--session", "s", "--addr", addr, "-q").Ends(t, terminal.ExitDone)
	for _, marker := range []string{"marker-checkpoint", "marker-request", "marker-aside", "Be fast.", "1. the queue"} {
		require.Contains(t, r.Out, marker)
	}
	type line struct {
		SessionID string          `json:"session_id"`
		Kind      string          `json:"kind"`
		Row       json.RawMessage `json:"row"`
		Message   *struct{ State string }
		Record    map[string]any
		Child     *struct {
			ID string `json:"session_id"`
		}
	}
	kinds, sessions, children, records, aside := map[string]int{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, false
	for text := range strings.Lines(r.Out) {
		var l line
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		if l.SessionID == "s" {
			kinds[l.Kind]++
		}
		sessions[l.SessionID] = true
		if l.Child != nil {
			children[l.Child.ID] = true
		}
		if l.Kind == string(storage.RowKind) {
			row := &storagev1.Session{}
			require.NoError(t, protojson.Unmarshal(l.Row, row))
			require.Equal(t, l.SessionID, row.GetSessionId())
			require.NotZero(t, row.GetLogBytes())
			require.NotNil(t, row.GetHead())
			require.NotNil(t, row.GetResolvedPolicy())
		}
		for name := range l.Record {
			records[name] = true
		}
		aside = aside || l.Message != nil && l.Message.State == "MESSAGE_STATE_PUT_ASIDE"
	}
	for _, kind := range storage.Kinds() {
		require.NotZero(t, kinds[string(kind)], kind)
	}
	require.True(t, aside)
	for _, kind := range []string{"policy_change", "instructions", "context_blocks", "checkpoint", "revert", "prune"} {
		require.True(t, records[kind], kind)
	}
	require.NotEmpty(t, children)
	for child := range children {
		require.True(t, sessions[child], "the child is exported too")
	}
	answer, err := daemon.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	require.EqualValues(t, answer.GetSession().GetNextIndex(), kinds[string(storage.MessageKind)])

	programtest.Ran(t, "export", "--session", "nobody", "--addr", addr).Ends(t, terminal.ExitFailed).Says(t, `no session "nobody"`)
	require.Equal(t, terminal.ExitDone, d.Stop())
}
