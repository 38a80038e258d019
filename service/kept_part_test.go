package service_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Seed case 75: the next compaction summarizes what an earlier one kept.
func TestCase075KeptMessagesAreSummarizedByTheNextCompaction(t *testing.T) {
	t.Parallel()
	d, writer := caseDaemon(t, 1500,
		user(long(500)), assistant(long(500)), user(long(500)), assistant(long(500)), user(long(500)), assistant(long(500)))
	first := d.completed(nil)
	d.append("s", user(long(500)), assistant(long(500)))
	writer.requests = nil
	second := d.completed(small(1))
	var received []uint32
	for _, req := range writer.seen() {
		for _, l := range req.Messages {
			received = append(received, l.GetIndex())
		}
	}
	for index := first.GetFirstKeptIndex(); index < second.GetFirstKeptIndex(); index++ {
		require.Contains(t, received, index)
	}
	require.NotEmpty(t, writer.seen()[0].PreviousSummary, "seed case 76: the summary before is an input of its own")
}

// Seed case 84: the leading messages are not summarized and stay word for word.
func TestCase084LeadingRunIsNeverSummarized(t *testing.T) {
	t.Parallel()
	developer := &compactordv1.Message{
		Role: compactordv1.Role_ROLE_DEVELOPER, Parts: []*compactordv1.Part{textPart("Answer in French.")},
	}
	d, writer := caseDaemon(t, 500, append([]*compactordv1.Message{
		system("You are careful."), developer,
	}, working(8, 2000)[1:]...)...)
	before := d.view("s")[:2]
	d.completed(nil)
	for _, req := range writer.seen() {
		require.Len(t, req.Lead, 2)
		for _, l := range req.Messages {
			require.Greater(t, l.GetIndex(), uint32(1))
		}
	}
	requireSameView(t, before, d.view("s")[:2])
}

// The summarizer sees what will stay beside its summary, as the view will show it: first the messages out of place, then
// the kept part. An edit may be older than the compaction, or of its own plan.
func TestSummarizersSeeWhatIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prune, compact *compactordv1.Policy
	}{
		"edited before": {hideAll(), keepMessages(3)},
		"edited by it":  {nil, hideAndCut(1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			writer := &scripted{name: "writer", do: faithful}
			d := start(t, withSummarizer(writer))
			d.create("s", by("writer", noFallback, c.compact))
			d.append("s", system("Be careful."), user("an old request "+long(2000)), user("the pinned request"), assistant(long(2000)),
				assistant("", call("a", "read", `{"path":"a"}`)), toolResult("a", long(2000)),
				user("the newest request"), assistant("", call("b", "read", `{"path":"b"}`)), toolResult("b", long(2000)),
				assistant("", call("c", "read", `{"path":"c"}`)), toolResult("c", "short"))
			if c.prune != nil {
				require.NotEmpty(t, d.prune(c.prune).GetEdits())
			}
			d.pin("s", 2)
			require.Equal(t, uint32(6), d.completed(nil).GetFirstKeptIndex())
			require.Len(t, writer.seen(), 1)
			requireKept(t, writer.seen()[0].Kept, d.view("s"), 2, 6, 7, 8, 9, 10)
			require.NotEmpty(t, shownIndexes(d.view("s"))[8].GetEdits())

			// What was out of place before stays there only while it is pinned.
			d.pin("s", 3)
			d.unpin("s", 2)
			d.append("s", assistant(long(4000)), user("a newer request"), assistant("", call("d", "read", "{}")), toolResult("d", "short"))
			first := d.completed(keepMessages(2)).GetFirstKeptIndex()
			require.Equal(t, uint32(12), first)
			requireKept(t, writer.seen()[1].Kept, d.view("s"), 3, 12, 13, 14)
		})
	}
}

// requireKept requires that a summarizer saw the messages with these indexes as the view shows them.
func requireKept(t *testing.T, kept []*compactordv1.LoggedMessage, view []*compactordv1.ViewMessage, indexes ...uint32) {
	t.Helper()
	shown := shownIndexes(view)
	var seen []uint32
	for _, l := range kept {
		seen = append(seen, l.GetIndex())
		require.True(t, proto.Equal(shown[l.GetIndex()].GetMessage(), l.GetMessage()), "message %d", l.GetIndex())
		require.Equal(t, shown[l.GetIndex()].GetTokens(), l.GetTokens(), "message %d", l.GetIndex())
	}
	require.Equal(t, indexes, seen)
}

// Kept messages are byte for byte what was appended (seed case 142).
func TestCase142KeptMessagesAreUntouched(t *testing.T) {
	t.Parallel()
	messages := working(8, 2000)
	d, _ := caseDaemon(t, 500, messages...)
	d.completed(nil)
	kept := 0
	for _, vm := range d.view("s") {
		if o, ok := vm.GetOrigin().(*compactordv1.ViewMessage_Index); ok {
			want := proto.CloneOf(messages[o.Index])
			want.Origin = compactordv1.Origin_ORIGIN_CLIENT
			require.True(t, proto.Equal(want, vm.GetMessage()))
			kept++
		}
	}
	require.Greater(t, kept, 2, "more than the instructions")
}

// Seed case 140: covered messages stay covered after a restart and another compaction.
func TestCase140NothingComesBackAfterARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	writer := &scripted{name: "writer", do: faithful}
	d := start(t, withStore(openStore(t, path)), withSummarizer(writer))
	d.create("s", splitting(1000))
	d.append("s", working(8, 2000)...)
	first := d.completed(nil).GetFirstKeptIndex()
	before := d.view("s")
	d.stop()

	writer = &scripted{name: "writer", do: faithful}
	d = start(t, withStore(openStore(t, path)), withSummarizer(writer))
	requireSameView(t, before, d.view("s"))
	d.append("s", working(4, 2000)[1:]...)
	second := d.completed(nil)
	require.Greater(t, second.GetFirstKeptIndex(), first)
	require.Equal(t, span(first, second.GetFirstKeptIndex()), received(writer), "from the last cut on, and none before it")
	for _, vm := range d.view("s") {
		if o, ok := vm.GetOrigin().(*compactordv1.ViewMessage_Index); ok && o.Index > 0 {
			require.GreaterOrEqual(t, o.Index, second.GetFirstKeptIndex())
		}
	}
}

// Summarizers get the instructions in force and the context blocks, which stay beside the summary, and not the leading
// messages that those instructions replace.
func TestSummarizersSeeWhatStandsBesideTheSummary(t *testing.T) {
	t.Parallel()
	d, writer := caseDaemon(t, 500, append([]*compactordv1.Message{system("Old rules.")}, working(8, 2000)[1:]...)...)
	_, err := d.sessions.ReplaceInstructions(t.Context(), &compactordv1.ReplaceInstructionsRequest{
		SessionId: "s", Messages: []*compactordv1.Message{system("New rules.")},
	})
	require.NoError(t, err)
	_, err = d.sessions.UpdateContextBlocks(t.Context(), &compactordv1.UpdateContextBlocksRequest{
		SessionId: "s", Set: []*compactordv1.ContextBlock{{Name: "plan", Parts: []*compactordv1.Part{textPart("Ship it.")}}},
	})
	require.NoError(t, err)
	d.completed(nil)
	for _, req := range writer.seen() {
		require.Empty(t, req.Lead)
		require.Len(t, req.Beside, 2)
		require.Equal(t, "New rules.", req.Beside[0].GetParts()[0].GetText().GetText())
		require.Contains(t, req.Beside[1].GetParts()[0].GetText().GetText(), "Ship it.")
	}
	view := d.view("s")
	require.NotZero(t, view[0].GetInstructions())
	require.NotEmpty(t, view[1].GetSummaryOf())
	require.Equal(t, "plan", view[2].GetContextBlock().GetName())
}
