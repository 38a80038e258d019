package service_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// long is text of about so many tokens.
func long(tokens int) string { return strings.Repeat("abc ", tokens) }

// splitting keeps the newest recent tokens and splits turns.
func splitting(recent uint32) *compactordv1.Policy {
	return by("writer", noFallback, small(recent))
}

// caseDaemon is a daemon with a session and a summarizer that notes what it is asked.
func caseDaemon(t *testing.T, recent uint32, messages ...*compactordv1.Message) (*daemon, *scripted) {
	t.Helper()
	writer := &scripted{name: "writer", do: faithful}
	d := start(t, withSummarizer(writer))
	d.create("s", splitting(recent))
	d.append("s", messages...)
	return d, writer
}

func (d *daemon) completed(policy *compactordv1.Policy) *compactordv1.CompactionEntry {
	d.t.Helper()
	events, err := d.compact(compactRequest("s", policy))
	require.NoError(d.t, err)
	requireGrammar(d.t, events)
	done := last(d.t, events).GetCompleted()
	require.NotNil(d.t, done, "%v", last(d.t, events))
	require.Equal(d.t, done.GetCompaction().GetSummary(), lastAttemptText(events))
	return done.GetCompaction()
}

// Seed case 75: what an earlier compaction kept is taken in by the next.
func TestCase075KeptMessagesAreTakenInByTheNextCompaction(t *testing.T) {
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

// Seed case 77: a turn is split, nothing complete lies before it, and the summary before survives.
func TestCase077PreviousSummarySurvivesASplitTurn(t *testing.T) {
	t.Parallel()
	d, writer := caseDaemon(t, 400,
		user("Never touch the file secrets.txt. "+long(500)), assistant(long(500)), user(long(300)), assistant(long(300)))
	first := d.completed(nil)
	require.Equal(t, uint32(2), first.GetFirstKeptIndex())
	d.append("s", assistant(long(500)), assistant(long(500)))
	writer.requests = nil
	second := d.completed(nil)
	require.Equal(t, uint32(2), second.GetSplitTurnStart())
	require.Contains(t, second.GetSummary(), "secrets.txt")
	require.Len(t, writer.seen(), 1, "only the first part of the turn is new")
	require.Equal(t, summarizers.TurnPrefix, writer.seen()[0].Kind)
	require.Contains(t, second.GetSummary(), first.GetSummary())
}

// Seed case 78: with no history before the split turn one summary is written, and the history's place says so.
func TestCase078SplitTurnWithoutHistory(t *testing.T) {
	t.Parallel()
	d, writer := caseDaemon(t, 500, user(long(1000)), assistant(long(600)), assistant(long(600)))
	entry := d.completed(nil)
	require.Equal(t, uint32(0), entry.GetSplitTurnStart())
	require.Len(t, writer.seen(), 1)
	require.Equal(t, summarizers.TurnPrefix, writer.seen()[0].Kind)
	require.Contains(t, entry.GetSummary(), "no earlier turns")
}

// Seed cases 79 and 82: two summaries, each with the focus; where one fails nothing is written.
func TestCase079And082SplitTurnWithHistory(t *testing.T) {
	t.Parallel()
	messages := []*compactordv1.Message{
		user(long(1000)), assistant(long(600)), user(long(600)), assistant(long(600)), assistant(long(600)),
	}
	d, writer := caseDaemon(t, 500, messages...)
	req := compactRequest("s", nil)
	req.Focus = "the database"
	_, err := d.compact(req)
	require.NoError(t, err)
	require.Len(t, writer.seen(), 2)
	for i, kind := range []summarizers.Kind{summarizers.History, summarizers.TurnPrefix} {
		req := writer.seen()[i]
		require.Equal(t, kind, req.Kind)
		require.Equal(t, "the database", req.Focus)
		require.Len(t, req.Messages, 2)
		require.Equal(t, uint32(2*i), req.Messages[0].GetIndex(), "seed case 83: each message is in one of them")
	}

	for _, fails := range []summarizers.Kind{summarizers.History, summarizers.TurnPrefix} {
		half := &scripted{name: "writer", do: func(
			ctx context.Context, req *summarizers.Request, p summarizers.Progress,
		) (*summarizers.Summary, error) {
			if req.Kind == fails {
				return nil, errors.New("out of order")
			}
			return faithful(ctx, req, p)
		}}
		d = start(t, withSummarizer(half))
		d.create("s", splitting(500))
		d.append("s", messages...)
		before, records := d.view("s"), len(d.records("s"))
		_, err = d.compact(compactRequest("s", nil))
		requireReason(t, err, codes.Unavailable, "SUMMARIZER_UNAVAILABLE")
		requireSameView(t, before, d.view("s"))
		require.Len(t, d.records("s"), records+1)
		require.NotNil(t, d.lastRecord("s").GetAttempt())
	}
}

// Seed case 81: a summary that was written elsewhere is the last one for the next compaction, as one of our own is.
func TestCase081SummariesFromElsewhereServeAsTheLast(t *testing.T) {
	t.Parallel()
	const said = "All up to the fifth ship is told here."
	summary := sectioned(compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY, said)
	for name, write := range map[string]func(d *daemon){
		"imported": func(d *daemon) {
			_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
				SessionId: "s", Messages: turnsWithTools(6),
				ImportedRecords: []*compactordv1.ImportedRecord{importedCompaction(20, 17, summary)},
			})
			require.NoError(t, err)
		},
		"handed in": func(d *daemon) {
			d.append("s", turnsWithTools(6)...)
			own := &compactordv1.ClientPlan{Strategy: "theirs", FirstKeptIndex: proto.Uint32(17)}
			plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", ClientPlan: own})
			d.commitPlan(&compactordv1.CommitCompactionRequest{
				SessionId: "s", PlanToken: plan.GetPlanToken(), ClientPlan: own, Summary: summary,
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			writer := &scripted{name: "writer", do: faithful}
			d := start(t, withSummarizer(writer))
			d.create("s", splitting(1))
			write(d)
			d.append("s", user("And the next ship?"), assistant("It leaves at noon."))
			entry := d.completed(nil)
			require.Equal(t, uint32(17), writer.seen()[0].Messages[0].GetIndex())
			require.Equal(t, summary, writer.seen()[0].PreviousSummary)
			require.Contains(t, entry.GetSummary(), said, "faithful takes it in")
		})
	}
}

// Seed case 84: the leading run is not summarized and stays word for word.
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

func touching(id, tool, path string) []*compactordv1.Message {
	return []*compactordv1.Message{
		assistant(long(300), call(id, tool, `{"path":"`+path+`"}`)), toolResult(id, long(300)),
	}
}

// Seed case 118: files that only the kept part touches are not in this entry's lists, but in the next one's.
func TestCase118FilesOfTheKeptPartComeWithTheNextEntry(t *testing.T) {
	t.Parallel()
	messages := append([]*compactordv1.Message{user(long(300))}, touching("1", "read", "covered.go")...)
	messages = append(messages, user(long(300)))
	messages = append(messages, touching("2", "edit", "kept.go")...)
	d, _ := caseDaemon(t, 700, messages...)
	first := d.completed(nil)
	require.Equal(t, []string{"covered.go"}, first.GetFiles().GetRead())
	require.Empty(t, first.GetFiles().GetModified())
	d.append("s", user(long(900)))
	second := d.completed(nil)
	require.Equal(t, []string{"covered.go"}, second.GetFiles().GetRead())
	require.Equal(t, []string{"kept.go"}, second.GetFiles().GetModified())
}

// Seed case 122: the first part of a split turn counts.
func TestCase122FilesOfASplitTurnAreListed(t *testing.T) {
	t.Parallel()
	messages := append([]*compactordv1.Message{user(long(300))}, touching("1", "write", "early.go")...)
	messages = append(messages, touching("2", "read", "late.go")...)
	d, _ := caseDaemon(t, 400, append(messages, assistant(long(500)))...)
	entry := d.completed(nil)
	require.NotNil(t, entry.SplitTurnStart)
	require.Contains(t, entry.GetFiles().GetModified(), "early.go")
}

// Messages that are kept are byte for byte what was appended (seed case 142).
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

// Seed case 140: what a summary covers stays covered after a restart and another compaction.
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
