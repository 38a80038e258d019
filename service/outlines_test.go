package service_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/strategies/strategiestest"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// outlining starts a daemon that leaves out texts of results from this size on where it can.
func outlining(t *testing.T, least int) *daemon {
	t.Helper()
	return start(t, func(o *service.ServerOptions) { o.LeastOutlined = least })
}

// Whether what tools returned is held or read where it is needed, prunes, plans, prompts and digests are the same.
func TestOutlinesChangeNoResult(t *testing.T) {
	t.Parallel()
	whole, outlined := outlining(t, math.MaxInt), outlining(t, 1)
	sessions, did := 0, map[string]int{}
	live := func(t *rapid.T) {
		sessions++
		draw := strategiestest.Draw(func(low, high int, label string) int {
			return rapid.IntRange(low, high).Draw(t, label)
		})
		policy := &compactordv1.Policy{
			ContextWindow: proto.Uint32(8000), Strategy: draw.Strategy(strategiestest.Any),
			PruneStrategy: draw.Strategy(strategiestest.EditsOnly),
			// What replaces a secret depends on the session.
			Summary: &compactordv1.SummaryPolicy{Redact: proto.Bool(false)},
		}
		if draw(0, 1, "cuts") == 1 {
			policy.Strategy = small(uint32(draw(1, 1000, "recent"))).GetStrategy()
		}
		var rounds [][]*compactordv1.Message
		for i := range 3 {
			rounds = append(rounds, researching(draw, i))
		}
		id := fmt.Sprint("s", sessions)
		want, got := answersOfCalls(t, whole, id, policy, rounds), answersOfCalls(t, outlined, id, policy, rounds)
		require.Equal(t, want, got)
		for _, line := range want {
			for _, what := range []string{"prune:", "prompt:", "summary:"} {
				if strings.Contains(line, what) {
					did[what]++
				}
			}
		}
	}
	for range 5 {
		rapid.Check(t, live)
	}
	for _, what := range []string{"prune:", "prompt:", "summary:"} {
		require.Positive(t, did[what], what)
	}
}

// researching draws some turns with results of all kinds of lengths, some with errors or settings.
func researching(draw strategiestest.Draw, round int) []*compactordv1.Message {
	var messages []*compactordv1.Message
	for i := range draw(1, 6, "turns") {
		id := fmt.Sprintf("c%d-%d", round, i)
		messages = append(messages, user(fmt.Sprintf("Please mend pkg/part%d.go and never touch the docs.", i)+longer(draw)))
		for range draw(0, 3, "calls") {
			id += "x"
			messages = append(messages, assistant("I look at it."+longer(draw), call(id, "read_file", fmt.Sprintf(`{"path":"pkg/%s.go"}`, id))))
			var text strings.Builder
			for line := range draw(0, 60, "lines") {
				fmt.Fprintf(&text, "%s: func Part%s%d(n int) int { return n * %d }\n", id, id, line, line)
			}
			switch draw(0, 3, "kind") {
			case 0:
				text.WriteString("error: pkg/" + id + ".go:12: undefined: fetchAll\n")
			case 1:
				text.WriteString("DB_PASSWORD=hK9fz" + strings.ReplaceAll(id, "-", "Q") + "Lw3pXr81\n")
			default:
			}
			messages = append(messages, toolResult(id, text.String()))
		}
		messages = append(messages, assistant(fmt.Sprintf("I decided to keep part %d as it is, since its tests pass.", i)+longer(draw)))
	}
	return messages
}

// longer draws what a longer message also says.
func longer(draw strategiestest.Draw) string {
	var text strings.Builder
	for line := range draw(0, 3, "longer") * draw(0, 20, "said") {
		fmt.Fprintf(&text, "\n%d. Keep `Part%d` in pkg/part%d.go, and the limit of %d requests.", line, line, line, 100+line)
	}
	return text.String()
}

// answersOfCalls carries out the same calls on a session, and returns what they answered, without what differs between
// sessions.
func answersOfCalls(
	t *rapid.T, d *daemon, id string, policy *compactordv1.Policy, rounds [][]*compactordv1.Message,
) (lines []string) {
	say := func(what string, all ...any) {
		lines = append(lines, what+fmt.Sprint(all...))
	}
	ctx := t.Context()
	_, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: id, Policy: policy})
	require.NoError(t, err)
	for _, messages := range rounds {
		appended, err := d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: id, Messages: messages})
		require.NoError(t, err)
		say("report:", appended.GetReport())

		pruned, err := d.compactions.Prune(ctx, &compactordv1.PruneRequest{
			Target: &compactordv1.PruneRequest_SessionId{SessionId: id},
		})
		require.NoError(t, err)
		for _, e := range pruned.GetPrune().GetEdits() {
			say("prune:", e)
		}
		planned, err := d.compactions.PlanCompaction(ctx, &compactordv1.PlanCompactionRequest{SessionId: id})
		require.NoError(t, err)
		say("plan:", planned.GetPlan())
		for _, p := range planned.GetPrompts() {
			say("prompt:", p)
		}
		stream, err := d.compactions.Compact(ctx, compactRequest(id, nil))
		require.NoError(t, err)
		for event, err := stream.Recv(); err == nil; event, err = stream.Recv() {
			done := event.GetEvent().GetCompleted()
			for _, e := range done.GetPrune().GetEdits() {
				say("edit:", e)
			}
			if entry := done.GetCompaction(); entry != nil {
				say("summary:", entry.GetFirstKeptIndex(), entry.GetTokensAfter(), entry.GetSummary(), entry.GetFiles(),
					entry.GetSlots(), entry.GetViewChange().GetChangedFrom())
			}
		}
	}
	return lines
}

// measuring is `extractive`, and measures the memory when everything is read and before the digest is written.
type measuring struct {
	*extractive.Summarizer

	live func()
}

func (m measuring) Summarize(
	ctx context.Context, req *summarizers.Request, progress summarizers.Progress,
) (*summarizers.Summary, error) {
	left := 0
	for _, l := range req.Messages {
		left += int(l.GetTokens())
	}
	return m.Summarizer.Summarize(ctx, req, &measured{progress, uint32(left), m.live})
}

type measured struct {
	summarizers.Progress

	all  uint32
	live func()
}

func (m *measured) Read(tokens uint32) {
	m.Progress.Read(tokens)
	if tokens == m.all {
		m.live()
	}
}

// What a prune and a compaction hold does not grow with what tools returned, and what users and the model said.
func TestCompactionsHoldNoTexts(t *testing.T) {
	const few, many = 30_000, 240_000
	for what, session := range map[string]func(count, characters int) []*compactordv1.Message{
		"results": working, "requests and answers": talking,
	} {
		// The first one also loads what all share.
		heldByCompaction(t, session(longTexts, few))
		small, large := heldByCompaction(t, session(longTexts, few)), heldByCompaction(t, session(longTexts, many))
		for when, held := range large {
			t.Logf("%s, %s: %d kB, of eight times the content %d kB", what, when, small[when]>>10, held>>10)
			require.Less(t, held-small[when], int64(longTexts*(many-few)/2), "%s, %s", what, when)
		}
	}
}

// longTexts is how many long texts the sessions have whose memory is measured.
const longTexts = 40

// talking returns a conversation with so many long texts.
func talking(count, characters int) []*compactordv1.Message {
	var messages []*compactordv1.Message
	for i := range count / 2 {
		said := strings.Repeat(fmt.Sprintf("The import of part %d must keep the order of rows, as `orders.go` expects it.\n", i), characters/75)
		messages = append(messages, user(said[:characters]), assistant(said[:characters]))
	}
	return append(messages, user("Go on."), assistant("Done."))
}

// heldByCompaction returns the memory that is held for a session when a compaction has read its state, at the end of
// reading for the digest, and before the commit.
func heldByCompaction(t *testing.T, messages []*compactordv1.Message) map[string]int64 {
	t.Helper()
	store, err := boltstore.Open(filepath.Join(t.TempDir(), "store"), boltstore.Options{})
	require.NoError(t, err)
	var before int64
	held := map[string]int64{}
	live := func(what string) {
		runtime.GC()
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		held[what] = max(held[what], int64(now.HeapAlloc)-before)
	}
	writers, err := summarizers.NewRegistry(measuring{extractive.New(), func() { live("digest") }})
	require.NoError(t, err)
	d := start(t, func(o *service.ServerOptions) {
		o.Store, o.Summarizers, o.LeastOutlined = store, writers, 0
		o.Hooks.BeforePlan = func(context.Context) { live("plan") }
		o.Hooks.BeforeCommit = func(context.Context) { live("commit") }
	})
	d.create("s", small(1000))
	for _, m := range messages {
		d.append("s", m)
	}
	live("nothing")
	before = held["nothing"]
	delete(held, "nothing")
	_, err = d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.Len(t, held, 3)
	return held
}
