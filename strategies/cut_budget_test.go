package strategies_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/strategies"
)

const due = compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD

// testingT is the part of testing.T and rapid.T that a plan needs.
type testingT interface {
	require.TestingT
	Context() context.Context
}

// plannedFor plans for a reason, and checks the plan.
func plannedFor(
	t testingT, l *testLog, reason compactordv1.CompactionReason, p *compactordv1.SummarizeStrategy,
) *plan {
	in := &strategies.Input{State: l.state(), Policy: l.policy, Reason: reason}
	made, err := registry().Plan(t.Context(), in, summarizing(p))
	require.NoError(t, err)
	require.NoError(t, strategies.Check(in, made))
	return made
}

// The rules keep less only if a trigger made compaction due, or the provider reported that it was passed.
func TestRulesGiveWayToTheTrigger(t *testing.T) {
	t.Parallel()
	tokens := func(n, overhead uint32) *compactordv1.Policy {
		return &compactordv1.Policy{
			OverheadTokens: proto.Uint32(overhead), Trigger: &compactordv1.Trigger{TriggerTokens: &n},
		}
	}
	groups := &compactordv1.Policy{Trigger: &compactordv1.Trigger{TriggerToolGroups: proto.Uint32(5)}}
	const six = "U T2 R T2 R T2 R T2 R T2 R T2 R"
	for _, c := range []struct {
		name   string
		log    string
		policy *compactordv1.Policy
		keep   *compactordv1.SummarizeStrategy
		// ruled is the first kept index by the rules, and cut the one that a trigger changes it to; or none.
		ruled, cut int
		summary    uint32
	}{
		{"half of the trigger", "U100 A100 U100 A100 U100 A100", tokens(500, 0), nil, none, 4, 150},
		{"less the leading messages", "S100 U100 A100 U100 A100 U100 A100", tokens(600, 0), nil, none, 5, 150},
		{"less the overhead", "U100 A100 U100 A100 U100 A100", tokens(500, 299), nil, none, 5, 64},
		{"a rule that leaves the view below", "U100 A100 U100 A100 U100 A100", tokens(500, 0), keepTokens(400), 2, 2, 99},
		{"a rule that leaves it at the trigger", "U100 A100 U100 A100 U100 A100", tokens(400, 0), keepTokens(400), 2, 4, 100},
		{"at least one valid part", "U100 A100 T100 R900", tokens(1100, 0), nil, none, 2, 64},
		{"one message", "U1000", tokens(500, 0), nil, none, none, 0},
		{"half of the tool groups", six, groups, nil, none, 9, 64},
		{
			"fewer groups than the trigger are not touched", six, groups,
			&compactordv1.SummarizeStrategy{RecentToolGroups: proto.Uint32(4)}, 5, 5, 64,
		},
		{
			"as many are", six, groups,
			&compactordv1.SummarizeStrategy{RecentToolGroups: proto.Uint32(5)}, 3, 9, 64,
		},
		{
			"half of the bytes", "U100 A100 U100 A100 U100 A100",
			&compactordv1.Policy{Trigger: &compactordv1.Trigger{MaxViewBytes: proto.Uint32(2000)}}, nil, none, 4, 147,
		},
		{
			"turns stay whole where they must", "U100 A100 U100 A100 A100 A100", tokens(500, 0),
			splitting(keepTokens(1000), compactordv1.SplitTurn_SPLIT_TURN_OFF), none, 2, 64,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script(c.log)
			l.policy = c.policy
			for reason, cut := range map[compactordv1.CompactionReason]int{
				due: c.cut, compactordv1.CompactionReason_COMPACTION_REASON_MANUAL: c.ruled,
				compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW: c.cut,
			} {
				made := plannedFor(t, l, reason, c.keep)
				if cut == none {
					require.Equal(t, nothing, made.GetSkipReason(), reason)
					continue
				}
				require.Equal(t, uint32(cut), made.GetCut().GetFirstKeptIndex(), reason)
				if reason != compactordv1.CompactionReason_COMPACTION_REASON_MANUAL {
					require.Equal(t, c.summary, made.GetCut().GetMaxSummaryTokens())
				} else {
					// Three quarters of what it replaces.
					replaced := made.GetSummarizerInputTokens()
					require.Equal(t, max(64, replaced-replaced/4), made.GetCut().GetMaxSummaryTokens(), reason)
				}
			}
		})
	}
}

// If the provider reports more than the estimate, the kept part counts as larger in proportion.
func TestCutBudgetByWhatIsReported(t *testing.T) {
	t.Parallel()
	l := newLog().script("U100 A100 U100 A100 U100")
	answer := l.message("A", 100, "")
	answer.Usage = &compactordv1.Usage{InputTokens: 1700, OutputTokens: 100}
	l.policy = &compactordv1.Policy{
		OverheadTokens: proto.Uint32(0), Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(1500)},
	}
	l.add(answer)
	// 600 stored tokens are 1,800 of the model, so 500 stored tokens are the trigger of 1,500.
	require.Equal(t, uint32(4), plannedFor(t, l, due, nil).GetCut().GetFirstKeptIndex())
	require.Equal(t, uint32(150), plannedFor(t, l, due, nil).GetCut().GetMaxSummaryTokens())
	require.Equal(t, nothing, plannedFor(t, l, 0, nil).GetSkipReason())
}

// A long summary alone may make compaction due again. A cut that removes nothing would not change that.
func TestCutBudgetBesideALongSummary(t *testing.T) {
	t.Parallel()
	l := newLog().script("U A U A")
	l.commit(plannedFor(t, l, 0, keepTokens(20)), textOf(1000))
	l.script("U A")
	l.policy = &compactordv1.Policy{Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(1000)}}
	require.Equal(t, uint32(3), plannedFor(t, l, due, nil).GetCut().GetFirstKeptIndex())
	require.Equal(t, uint32(5), plannedFor(t, l, due, keepTokens(10)).GetCut().GetFirstKeptIndex(), "never more than ruled")
}

// A summary that fills its budget fills what the trigger leaves, and does not reach it. What views show around the text
// is in the budget, and not subtracted from what is left as well; in klaude the budget is for the text alone.
func TestSummaryFillsWhatTheTriggerLeaves(t *testing.T) {
	t.Parallel()
	for preset, want := range map[string]uint32{"default": 9_999, "klaude": 9_744 + 46} {
		l := newLog().script(strings.Repeat("U100 A900 ", 12))
		l.policy = &compactordv1.Policy{
			Preset: &preset, Summary: &compactordv1.SummaryPolicy{}, Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(10_000)},
		}
		made := plannedFor(t, l, due, keepTokens(8_000))
		l.commit(made, textOf(largestText(l.state(), l.policy, int(made.GetCut().GetMaxSummaryTokens()))))
		report := strategies.Report(l.head(), l.policy)
		require.InDelta(t, want, report.GetTokens(), 10, preset)
		require.False(t, report.GetShouldCompact(), preset)
	}
}

// The cut's budget, computed independently of the code: from the views after a cut at each place.
func TestCutBudgetRules(t *testing.T) {
	t.Parallel()
	did := seen{}
	checkRounds(t, func(t *rapid.T) {
		l := generate(t)
		if dice(t, 5) == 0 {
			l = newLog().script("S U5000")
		}
		l.policy = &compactordv1.Policy{OverheadTokens: optional(t, "overhead", 0, 500), Trigger: &compactordv1.Trigger{}}
		switch dice(t, 4) {
		case 0:
			l.policy.Trigger.TriggerToolGroups = proto.Uint32(uint32(1 + dice(t, 6)))
		case 1:
			l.policy.Trigger.MaxViewBytes = proto.Uint32(uint32(1 + dice(t, 20_000)))
		default:
			l.policy.Trigger.TriggerTokens = proto.Uint32(uint32(1 + dice(t, 5000)))
		}
		p := keepTokens([]uint32{0, 100, 1000, 20_000}[dice(t, 4)])
		requireRoom(t, l, p, did)
	})
	did.require(t, 5, "as ruled", "later", "smallest", "nothing", "pinned")
}

func requireRoom(t *rapid.T, l *testLog, p *compactordv1.SummarizeStrategy, did seen) {
	s := l.state()
	ruled, made := plannedFor(t, l, 0, p), plannedFor(t, l, due, p)
	places := s.CutPlaces()
	if made.GetSkipReason() == already || len(places) == 0 {
		require.True(t, proto.Equal(ruled, made))
		return
	}
	from, now := 0, divideView(s.View(session.ViewOptions{}), s.Kept[0].GetIndex())
	start := now
	if c := ruled.GetCut(); c != nil {
		from = slices.IndexFunc(s.Kept, func(m *compactordv1.LoggedMessage) bool { return m.GetIndex() == c.GetFirstKeptIndex() })
		start = cutAt(l, from)
	}
	limits := limitsOf(l)
	over := limits.over(start, limits.atLeast(now.summary))
	if len(over) == 0 {
		if ruled.GetCut() != nil {
			rest := limits.rest(start)
			ruled.Cut.MaxSummaryTokens = min(ruled.GetCut().GetMaxSummaryTokens(), uint32(max(64, min(rest-1, 13_107))))
		}
		require.True(t, proto.Equal(ruled, made), "%v %v", ruled, made)
		did.count("as ruled", made.GetCut() != nil)
		return
	}
	// All that a cut there removes may be pinned.
	useful := slices.DeleteFunc(slices.Clone(places), func(pos int) bool { return pos < from || !parts(s, pos) })
	if len(useful) == 0 {
		require.Equal(t, nothing, made.GetSkipReason())
		did.count("nothing", true)
		return
	}
	fits := func(pos int) bool { return limits.halved(cutAt(l, pos), over) }
	want := useful[len(useful)-1]
	if i := slices.IndexFunc(useful, fits); i >= 0 {
		want = useful[i]
	}
	require.Equal(t, s.Kept[want].GetIndex(), made.GetCut().GetFirstKeptIndex())
	require.Equal(t, min(limits.summaryBeside(cutAt(l, want)), mostThatGains(l, made.GetCut(), now, cutAt(l, want))),
		made.GetCut().GetMaxSummaryTokens())
	did.count("later", fits(want))
	did.count("smallest", !fits(want))
	did.count("pinned", cutAt(l, want).fixed.tokens > now.fixed.tokens)
}

// figures are the sizes by which compaction can be due.
type figures struct{ tokens, groups, bytes int }

// dividedView is the size of a view: of messages from an index on, of messages before it that stay, and of its summary.
type dividedView struct{ kept, fixed, summary figures }

func divideView(v *session.View, from uint32) (w dividedView) {
	for _, vm := range v.Messages {
		of := &w.summary
		if vm.GetSummaryOf() == "" {
			of = &w.fixed
			if max(vm.GetIndex(), vm.GetLogRepair().GetIndex(), vm.GetFolded().GetStart()) >= from {
				of = &w.kept
			}
		}
		of.tokens += int(vm.GetTokens())
		of.bytes += proto.Size(vm.GetMessage())
		if slices.ContainsFunc(vm.GetMessage().GetParts(), func(p *compactordv1.Part) bool { return p.GetToolCall() != nil }) {
			of.groups++
		}
	}
	return w
}

// cutAt returns the size of the view after a cut before the message at a position.
func cutAt(l *testLog, pos int) dividedView {
	s := l.state()
	first := s.Kept[pos].GetIndex()
	written, err := session.Write(s, &compactordv1.Record{Kind: &compactordv1.Record_Compaction{
		Compaction: &compactordv1.CompactionEntry{Id: "tried", FirstKeptIndex: first},
	}}, nil, nil)
	if err != nil {
		panic(err)
	}
	return divideView(written.State.View(session.ViewOptions{}), first)
}

// parts says whether a cut removes a message that is shown and not pinned.
func parts(s *session.State, pos int) bool {
	shown := s.View(session.ViewOptions{}).Messages
	return slices.ContainsFunc(s.Kept[:pos], func(m *compactordv1.LoggedMessage) bool {
		return !session.Pinned(s.Head, m.GetIndex()) && slices.ContainsFunc(shown, func(vm *compactordv1.ViewMessage) bool {
			return vm.GetSummaryOf() == "" && max(vm.GetIndex(), vm.GetLogRepair().GetIndex()) == m.GetIndex()
		})
	})
}

// limitsOf returns the policy's triggers. That in tokens is reduced by the tokens that are not in the log.
func limitsOf(l *testLog) figures {
	none := math.MaxInt
	limits, t := figures{none, none, none}, l.policy.GetTrigger()
	if t.TriggerTokens != nil {
		limits.tokens = max(0, int(t.GetTriggerTokens())-int(l.policy.GetOverheadTokens()))
	}
	if t.TriggerToolGroups != nil {
		limits.groups = int(t.GetTriggerToolGroups())
	}
	if t.MaxViewBytes != nil {
		limits.bytes = int(t.GetMaxViewBytes())
	}
	return limits
}

// of holds a getter for each figure.
var of = []func(figures) int{
	func(f figures) int { return f.tokens }, func(f figures) int { return f.groups }, func(f figures) int { return f.bytes },
}

// over returns the figures by which compaction is due again at once.
func (limits figures) over(w dividedView, summary figures) (which []func(figures) int) {
	for _, by := range of {
		if by(w.kept)+by(w.fixed)+by(summary) >= by(limits) {
			which = append(which, by)
		}
	}
	return which
}

func (limits figures) halved(w dividedView, which []func(figures) int) bool {
	return !slices.ContainsFunc(which, func(by func(figures) int) bool {
		return 2*by(w.kept) > max(0, by(limits)-by(w.fixed))
	})
}

// atLeast returns a summary with at least a sixteenth of what a trigger leaves, or 1,024 tokens.
func (limits figures) atLeast(summary figures) figures {
	tokens := min(1024, limits.tokens/16)
	summary.tokens, summary.bytes = max(summary.tokens, tokens), max(summary.bytes, min(4*tokens, limits.bytes/16))
	return summary
}

// rest returns how many tokens are left beside a view without its summary.
func (limits figures) rest(w dividedView) int {
	return max(0, min(limits.tokens-w.kept.tokens-w.fixed.tokens, (limits.bytes-w.kept.bytes-w.fixed.bytes)/4))
}

// mostThatGains returns three quarters of what a cut removes from a view. What views show as the summary must be smaller
// than what the cut removes by two tokens, since a text that stands for it can have one more, and the summary smaller than
// what it covers.
func mostThatGains(l *testLog, cut *compactordv1.Cut, now, then dividedView) uint32 {
	s := l.state()
	out := func(by func(figures) int) int { return by(now.kept) + by(now.fixed) - by(then.kept) - by(then.fixed) }
	byBytes := strategies.DueByBytesAlone(l.policy, strategies.Report(s.Head, l.policy))
	most := func(summary figures) int {
		replaced := out(of[0]) + summary.tokens
		if byBytes {
			replaced = max(replaced, (out(of[2])+summary.bytes)/4)
		}
		return replaced - replaced/4
	}
	removed := out(of[0]) + now.summary.tokens
	pos := s.Position(cut.GetFirstKeptIndex())
	covered := int(session.TextTokens(s.Counter, s.Entry.GetSummary()))
	bytes := len(s.Entry.GetSummary())
	for _, m := range s.Kept[:pos] {
		covered, bytes = covered+int(m.GetTokens()), bytes+proto.Size(m.GetMessage())
	}
	if byBytes {
		removed, covered = max(removed, (out(of[2])+now.summary.bytes)/4), max(covered, bytes/4)
	}
	beside := &compactordv1.CompactionEntry{
		Slots: strategies.SlotsOf(s.Entry.GetSlots(), s.Kept[:pos], s.Kept[pos:], s.Edits, nil),
		Files: strategies.TouchedFiles(s.Entry.GetFiles(), strategies.FileTools(l.policy), s.Kept[:pos]),
	}
	frame := int(session.TextTokens(s.Counter, wording.Summary(&compactordv1.CompactionEntry{})))
	facts := int(session.TextTokens(s.Counter, wording.Summary(beside))) - frame
	budget := 0
	// The smallest text has 128 tokens, and slots and files have a quarter of the budget.
	for max(budget+1, min(budget+1, 128)+frame+min(facts, (budget+1)/4)) < removed-1 {
		budget++
	}
	tokens := most(now.summary)
	if cut.SplitTurnStart != nil && cut.GetSplitTurnStart() == s.Kept[0].GetIndex() && s.Entry.GetSummary() != "" {
		tokens = max(tokens, most(figures{})+int(session.TextTokens(s.Counter, s.Entry.GetSummary()))+32)
	}
	return uint32(max(64, min(tokens, budget, covered-1)))
}

func (limits figures) summaryBeside(w dividedView) uint32 {
	tokens := limits.tokens - w.kept.tokens - w.fixed.tokens
	bytes := limits.bytes - w.kept.bytes - w.fixed.bytes
	return uint32(min(max(64, min(tokens/2, bytes/8)), 13_107))
}
