package service_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/memory"
)

// dialogueOnly returns a policy that hides the tool groups of finished turns when the user's next message comes.
func dialogueOnly(digest compactordv1.ToolDigest) *compactordv1.Policy {
	policy := small(300)
	policy.OnUserMessage = listOf(&compactordv1.Strategy{Kind: &compactordv1.Strategy_DialogueOnly{
		DialogueOnly: &compactordv1.DialogueOnlyStrategy{ToolDigest: digest.Enum()},
	}})
	return policy
}

// requireDialogue asserts that these messages hold only what user and assistant said, and the summary.
func requireDialogue(t testing.TB, view []*compactordv1.ViewMessage) {
	t.Helper()
	for _, vm := range view {
		role := vm.GetMessage().GetRole()
		require.Contains(t, []compactordv1.Role{compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_ASSISTANT}, role)
		require.NotEmpty(t, vm.GetMessage().GetParts())
		for _, p := range vm.GetMessage().GetParts() {
			require.NotNil(t, p.GetText(), "%v", p)
		}
	}
}

// toolWork returns an agent's messages within a turn: some calls at once, and then one more.
func toolWork(turn int) []*compactordv1.Message {
	id := func(call int) string { return fmt.Sprintf("%d-%d", turn, call) }
	return []*compactordv1.Message{
		assistant("I look.", call(id(0), "read", `{"path":"tides.txt"}`), call(id(1), "bash", `{"command":"ls -l harbour"}`)),
		toolResult(id(1), strings.Repeat("a ship\n", 100)), toolResult(id(0), strings.Repeat("high water\n", 100)),
		assistant("", call(id(2), "bash", `{"command":"date"}`)), toolResult(id(2), strings.Repeat("Saturday ", 50)),
	}
}

// The use case of the two views: at the user's next message the context has no tool calls, only what user and agent
// said. Within a turn the model has everything.
func TestDualView(t *testing.T) {
	t.Parallel()
	for _, digest := range []compactordv1.ToolDigest{
		compactordv1.ToolDigest_TOOL_DIGEST_LINE, compactordv1.ToolDigest_TOOL_DIGEST_NOTHING,
	} {
		t.Run(digest.String(), func(t *testing.T) { twoViews(t, digest) })
	}
}

// twoViews runs some turns of an agent in two daemons, and restarts one.
func twoViews(t *testing.T, digest compactordv1.ToolDigest) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	d := start(t, withStore(openStore(t, path)))
	d.create("s", dialogueOnly(digest))
	elsewhere := start(t, withStore(memory.New()))
	elsewhere.create("s", dialogueOnly(digest))
	appendBoth := func(messages ...*compactordv1.Message) {
		d.append("s", messages...)
		elsewhere.append("s", messages...)
		requireSameTexts(t, d.view("s"), elsewhere.view("s"))
	}
	const turns = 4
	for turn := range turns {
		appendBoth(user(fmt.Sprintf("Request %d: when does the ship leave? %s", turn, long(30))))
		finished := d.view("s")
		requireDialogue(t, finished)
		appendBoth(toolWork(turn)...)
		running := d.view("s")
		requireSameBytes(t, finished, running[:len(finished)])
		require.Len(t, running[len(finished):], 5, "the running turn has its calls and results, whole")
		for i, vm := range running[len(finished):] {
			require.Empty(t, vm.GetEdits())
			require.True(t, proto.Equal(withoutOrigin(vm.GetMessage()), withoutOrigin(toolWork(turn)[i])))
		}
		appendBoth(assistant(fmt.Sprintf("Answer %d: it leaves at %d. %s", turn, turn, long(30))))
		if turn == 2 {
			// A compaction within a turn: the tool groups that it keeps are hidden at the next message anyway.
			requireCompacted(t, d)
			requireCompacted(t, elsewhere)
			require.NotEmpty(t, toolMessages(d.view("s")))
		}
	}
	appendBoth(user("And tomorrow?"))
	view := d.view("s")
	requireDialogue(t, view)
	require.NotEmpty(t, view[0].GetSummaryOf())
	said := view[len(view)-2].GetMessage()
	require.Contains(t, textOf(said), "Answer 3: it leaves at 3.")

	// The dialogue listing has every word, and every tool result can be recalled.
	listed, err := d.sessions.ListMessages(t.Context(), &compactordv1.ListMessagesRequest{
		SessionId: "s", Listing: compactordv1.MessageListing_MESSAGE_LISTING_DIALOGUE, PageSize: 1000,
	})
	require.NoError(t, err)
	require.Len(t, listed.GetMessages(), turns*3+1, "a request, what was said before the tools, and the answer of each turn")
	for _, l := range d.messages("s") {
		if l.GetMessage().GetRole() == compactordv1.Role_ROLE_TOOL {
			require.Equal(t, resultTextOf(l.GetMessage()), d.recall(recallOf(l.GetIndex())).GetText())
		}
	}
	d.requireSound(t)
	d.stop()
	requireSameBytes(t, view, start(t, withStore(openStore(t, path))).view("s"))
}

func requireCompacted(t *testing.T, d *daemon) {
	t.Helper()
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted().GetCompaction(), "%v", events)
}

func toolMessages(view []*compactordv1.ViewMessage) []*compactordv1.ViewMessage {
	var found []*compactordv1.ViewMessage
	for _, vm := range view {
		if vm.GetMessage().GetRole() == compactordv1.Role_ROLE_TOOL {
			found = append(found, vm)
		}
	}
	return found
}

func withoutOrigin(m *compactordv1.Message) *compactordv1.Message {
	m = proto.CloneOf(m)
	m.Origin = 0
	return m
}

// requireSameTexts compares views of two sessions, whose entries have different ids.
func requireSameTexts(t *testing.T, want, got []*compactordv1.ViewMessage) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.True(t, proto.Equal(want[i].GetMessage(), got[i].GetMessage()), "message %d", i)
	}
}

// Pinned tool groups of a finished turn stay, and calls without a result stay until they are closed.
func TestDualViewKeepsWhatIsPinned(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", dialogueOnly(compactordv1.ToolDigest_TOOL_DIGEST_LINE))
	d.append("s", user("Look."))
	d.append("s", toolWork(0)...)
	d.pinned(t, 2)
	d.append("s", user("And now?"))
	view := d.view("s")
	require.Len(t, toolMessages(view), 2, "the group that is pinned, whole; the other is hidden")
	d.append("s", toolWork(1)[:2]...)
	d.append("s", user("Never mind."))
	view = d.view("s")
	require.NotEmpty(t, toolMessages(view[len(view)-3:]), "the result may still come")
	d.append("s", assistant("As you say."), user("Thanks."))
	view = d.view("s")
	requireDialogue(t, view[len(view)-4:])
	d.requireSound(t)
}
