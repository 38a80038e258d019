package torture_test

import (
	"fmt"
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
