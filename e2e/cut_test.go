package e2e_test

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

// Seed case 55: a change of settings directly before a kept user message does not move the cut or make it split the
// turn.
func TestCase055SettingsDoNotMoveTheCut(t *testing.T) {
	addr := startDaemon(t, filepath.Dir(compactord),
		"compactord serve --listen "+defaultAddress+" --store "+anystore.Place(t))
	conn, err := daemontest.Dial(addr)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	sessions := compactordv1.NewSessionServiceClient(conn)
	_, err = sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	turn := &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: []*compactordv1.Message{
		words(compactordv1.Role_ROLE_USER), words(compactordv1.Role_ROLE_ASSISTANT),
	}}

	_, err = sessions.AppendMessages(t.Context(), turn)
	require.NoError(t, err)
	keep := &compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(2)}
	_, err = sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", Title: "another", UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy", "title"}},
		Policy: &compactordv1.Policy{
			Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{Summarize: keep}},
		},
	})
	require.NoError(t, err)
	_, err = sessions.AppendMessages(t.Context(), turn)
	require.NoError(t, err)

	stream, err := compactordv1.NewCompactionServiceClient(conn).Compact(t.Context(), &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: "s"},
	})
	require.NoError(t, err)
	var entry *compactordv1.CompactionEntry
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		entry = answer.GetEvent().GetCompleted().GetCompaction()
	}
	require.EqualValues(t, 2, entry.GetFirstKeptIndex())
	require.Nil(t, entry.SplitTurnStart)
}

// words is a message that is long enough to be compacted.
func words(role compactordv1.Role) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("some more words ", 170)}}},
	}}
}
