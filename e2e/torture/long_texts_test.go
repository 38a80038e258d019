package torture_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Each append to a session of long texts by the user and the model, and of its thinking, plans the compaction that is due.
// Eight times as many bytes in the session take hardly more memory, beside the pages of the store that the system keeps.
func TestMemoryOfLongTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two daemons, and appends a quarter of a gigabyte")
	}
	talk := func(mib int) (most int) {
		d := serve(t)
		_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
			SessionId: "s", Policy: &compactordv1.Policy{ContextWindow: proto.Uint32(200_000)},
		})
		require.NoError(t, err)
		due := false
		for i := range mib * 8 {
			text := strings.Repeat(fmt.Sprintf("Row %d of the import keeps its place, as orders.go wants it.\n", i), 1<<10)
			answer := said(text)
			if i%2 == 1 {
				answer.Parts = append(said("It does.").GetParts(), &compactordv1.Part{
					Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: text}},
				})
			}
			answer.Role = compactordv1.Role_ROLE_ASSISTANT
			appended, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
				SessionId: "s", Messages: []*compactordv1.Message{said(text), answer},
			})
			require.NoError(t, err)
			due = appended.GetReport().GetShouldCompact()
			most = max(most, d.memoryMiB(anonymousMemory))
		}
		require.True(t, due)
		return most
	}
	few, many := talk(25), talk(200)
	t.Logf("%d MiB with 25 MiB of texts, %d MiB with 200", few, many)
	require.LessOrEqual(t, many, 2*few)
}

// Appends, plans and compactions of a session of files that the model writes, whose text is in the arguments of calls, take
// hardly more memory for eight times as many bytes.
func TestMemoryOfLongArguments(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two daemons, and appends a quarter of a gigabyte")
	}
	work := func(mib int) (most int) {
		d := serve(t)
		_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
			SessionId: "s", Policy: &compactordv1.Policy{ContextWindow: proto.Uint32(200_000)},
		})
		require.NoError(t, err)
		for i := range mib * 4 {
			_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: writes(i, 256<<10)})
			require.NoError(t, err)
			most = max(most, d.memoryMiB(anonymousMemory))
		}
		_, err = d.compactions.PlanCompaction(t.Context(), &compactordv1.PlanCompactionRequest{SessionId: "s"})
		require.NoError(t, err)
		most = max(most, d.memoryMiB(anonymousMemory))
		stream, err := d.compactions.Compact(t.Context(), &compactordv1.CompactRequest{
			Target: &compactordv1.CompactRequest_SessionId{SessionId: "s"},
		})
		require.NoError(t, err)
		for completed := false; ; most = max(most, d.memoryMiB(anonymousMemory)) {
			answer, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				require.True(t, completed)
				return most
			}
			require.NoError(t, err)
			completed = completed || answer.GetEvent().GetCompleted() != nil
		}
	}
	few, many := work(25), work(200)
	t.Logf("%d MiB with 25 MiB of arguments, %d MiB with 200", few, many)
	require.LessOrEqual(t, 2*many, 3*few)
}

// writes returns a call that writes a file of so many bytes, and its result.
func writes(i, bytes int) []*compactordv1.Message {
	line := fmt.Sprintf("func handle%d(ctx context.Context) error { return store.Put(ctx, key%d) }\n", i, i)
	id := fmt.Sprint("call", i)
	return []*compactordv1.Message{
		{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolCall{
			ToolCall: &compactordv1.ToolCall{Id: id, Name: "Write", Arguments: fmt.Sprintf(
				`{"file_path":"/src/part%d/file%d.go","content":%q}`, i%50, i, strings.Repeat(line, bytes/len(line)))},
		}}}},
		{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{
			ToolResult: &compactordv1.ToolResult{CallId: id, Parts: []*compactordv1.ResultPart{{
				Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: "File written."}},
			}}},
		}}}},
	}
}
