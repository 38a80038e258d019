package strategies_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
)

// Each preset on transcripts whose outcome was worked out by hand from the description of the system.

func presetFor(t *testing.T, name string, l strategies.Limits, over *compactordv1.Policy) *compactordv1.Policy {
	t.Helper()
	p, err := strategies.Resolve(&compactordv1.Policy{
		Preset: &name, ContextWindow: given(l.Window), MaxOutputTokens: given(l.MaxOutput), MaxInputTokens: given(l.MaxInput),
	}, over)
	require.NoError(t, err)
	return p
}

func given(n uint32) *uint32 {
	if n == 0 {
		return nil
	}
	return &n
}

// requireTrigger checks that compaction is due at this many tokens and not at one less. 0 means never.
func requireTrigger(t *testing.T, p *compactordv1.Policy, tokens uint32) {
	t.Helper()
	trigger, holds := session.TriggerTokens(p)
	if tokens == 0 {
		require.False(t, holds && p.GetTrigger().GetEnabled())
		return
	}
	require.True(t, p.GetTrigger().GetEnabled())
	require.True(t, holds)
	require.Equal(t, tokens, trigger)
	for count, due := range map[uint32]bool{tokens - 1: false, tokens: true} {
		l := newLog().script("U A")
		answer := l.message("A", 1, "")
		answer.Usage = &compactordv1.Usage{TotalTokens: count}
		l.policy = p
		l.add(answer)
		require.Equal(t, due, session.Due(p, strategies.Report(l.head(), p)), "%d tokens", count)
	}
}

// byPreset returns the plan of a preset's strategy for a log.
func byPreset(t *testing.T, p *compactordv1.Policy, words string) (*testLog, *plan) {
	t.Helper()
	l := newLog()
	l.policy = p
	l.script(words)
	return l, thresholdPlan(t, l)
}

func thresholdPlan(t *testing.T, l *testLog) *plan {
	t.Helper()
	in := &strategies.Input{State: l.state(), Policy: l.policy, Reason: due}
	made, err := registry().Plan(t.Context(), in, l.policy.GetStrategy())
	require.NoError(t, err)
	require.NoError(t, strategies.Check(in, made))
	return made
}

func TestPresetKlaudeFigures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ window, output, reserve, keep, manual, summary uint32 }{
		{0, 0, 16_384, 20_000, 5_000, 13_107},
		{1_000_000, 0, 484_000, 20_000, 5_000, 13_107},
		{1_000_000, 128_000, 436_000, 20_000, 5_000, 13_107},
		{524_289, 0, 246_144, 20_000, 5_000, 13_107},
		{524_288, 0, 123_072, 20_000, 5_000, 13_107},
		{200_000, 0, 42_000, 20_000, 5_000, 13_107},
		{100_000, 0, 17_000, 20_000, 5_000, 13_107},
		{30_000, 30_000, 7_500, 10_500, 2_625, 6_000},
		{8_000, 8_000, 2_000, 4_096, 2_048, 1_600},
		{4_000, 4_000, 1_000, 3_000, 2_048, 1_024},
	} {
		p := presetFor(t, "klaude", strategies.Limits{Window: c.window, MaxOutput: c.output}, nil)
		cut := p.GetStrategy().GetSummarize()
		require.Equal(t, []uint32{c.keep, c.manual, c.summary},
			[]uint32{cut.GetRecentTokens(), cut.GetManualRecentTokens(), cut.GetMaxSummaryTokens()}, "window of %d", c.window)
		output := c.output
		if output == 0 {
			output = min(32_000, c.window/2)
		}
		if c.window <= output {
			requireTrigger(t, p, 0)
		} else {
			requireTrigger(t, p, c.window-output-c.reserve)
		}
	}
}

// With klaude-code's 32,000 for an unknown output limit compaction would never be due in a window of that size.
func TestPresetKlaudeActsInASmallWindow(t *testing.T) {
	t.Parallel()
	requireTrigger(t, presetFor(t, "klaude", strategies.Limits{Window: 32_000}, nil), 12_000)
	requireTrigger(t, presetFor(t, "klaude", strategies.Limits{Window: 64_000}, nil), 24_000)
	requireTrigger(t, presetFor(t, "klaude", strategies.Limits{Window: 64_000, MaxOutput: 32_000}, nil), 24_000)
}

func TestCase038KlaudeTrigger(t *testing.T) {
	t.Parallel()
	requireTrigger(t, presetFor(t, "klaude", strategies.Limits{Window: 200_000, MaxOutput: 32_000}, nil), 126_000)
	requireTrigger(t, presetFor(t, "klaude", strategies.Limits{Window: 1_000_000, MaxOutput: 128_000}, nil), 436_000)
	// A reserve of 16,384 in the policy does not change the preset's trigger. To have that reserve, a caller sets the
	// trigger to what the window leaves beside the output limit and the reserve.
	requireTrigger(t, presetFor(t, "klaude", strategies.Limits{Window: 200_000, MaxOutput: 32_000}, &compactordv1.Policy{
		Trigger: &compactordv1.Trigger{ReserveTokens: proto.Uint32(16_384)},
	}), 126_000)
	require.Equal(t, 151_616, 200_000-32_000-16_384)
	requireTrigger(t, presetFor(t, "klaude", strategies.Limits{Window: 200_000, MaxOutput: 32_000}, &compactordv1.Policy{
		Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(151_616)},
	}), 151_616)
}

func TestCase039KlaudeWithoutAnEffectiveWindow(t *testing.T) {
	t.Parallel()
	for _, output := range []uint32{30_000, 40_000} {
		requireTrigger(t, presetFor(t, "klaude", strategies.Limits{Window: 30_000, MaxOutput: output}, nil), 0)
	}
	requireTrigger(t, presetFor(t, "klaude", strategies.Limits{}, nil), 0)
}

// A coding agent in the middle of its task: the budget of 20,000 ends within a result, and the cut moves back to its
// call.
func TestPresetKlaudeCutsBackToTheCall(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "klaude", strategies.Limits{Window: 200_000, MaxOutput: 32_000}, nil)
	_, made := byPreset(t, p, "S U100 T10 R90000 T10 R19000 T10 R15000 T10 R4000 A10")
	require.Equal(t, uint32(4), made.GetCut().GetFirstKeptIndex(), "15,000 and 4,000 are not enough, so the 19,000 stay")
	_, made = byPreset(t, p, "S U100 T10 R90000 T10 R19000 T10 R16000 T10 R4000 A10")
	require.Equal(t, uint32(6), made.GetCut().GetFirstKeptIndex(), "back from the result to the call")
	require.Equal(t, uint32(1), made.GetCut().GetSplitTurnStart())
	require.Equal(t, compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_SYSTEM, p.GetSummary().GetPlacement())
}

func TestCase033KimiTrigger(t *testing.T) {
	t.Parallel()
	requireTrigger(t, presetFor(t, "kimi", strategies.Limits{Window: 200_000}, nil), 150_000)
	requireTrigger(t, presetFor(t, "klip13", strategies.Limits{Window: 200_000}, nil), 150_000)
}

func TestCase034KimiTriggerOfALargeWindow(t *testing.T) {
	t.Parallel()
	requireTrigger(t, presetFor(t, "kimi", strategies.Limits{Window: 1_000_000}, nil), 850_000)
}

func TestCase035KimiTriggerByRatio(t *testing.T) {
	t.Parallel()
	requireTrigger(t, presetFor(t, "kimi", strategies.Limits{Window: 200_000}, &compactordv1.Policy{
		Trigger: &compactordv1.Trigger{TriggerRatio: proto.Float64(0.7)},
	}), 140_000)
}

func TestCase032KimiInASmallWindow(t *testing.T) {
	t.Parallel()
	// kimi-cli would compact at 0 tokens; the reserve is half of the window.
	requireTrigger(t, presetFor(t, "kimi", strategies.Limits{Window: 50_000}, nil), 25_000)
}

func TestPresetKimiKeepsTwoMessages(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "kimi", strategies.Limits{Window: 200_000}, nil)
	_, made := byPreset(t, p, "S U100 T10 R120000 A10 U100 T10 R20000 R10")
	require.Equal(t, uint32(5), made.GetCut().GetFirstKeptIndex(), "the last user and assistant message, with the results")
	require.Nil(t, made.GetCut().SplitTurnStart)
	require.Equal(t, sessiontest.CodeSections(), p.GetSummary().GetSections().GetSections())
}

// KLIP-13 as described: hide, then nothing is left to hide, then a summary.
func TestPresetKlip13HidesThenSummarizes(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "klip13", strategies.Limits{Window: 1_100}, nil)
	requireTrigger(t, p, 550)
	l, made := byPreset(t, p, "U10 T2 R120 T2:a,b R50:a R50:b T2 R100 T2 R100 T2 R100 T2 R100")
	require.Equal(t, []uint32{2}, hiddenIn(made), "the oldest of six groups")
	require.Equal(t, "<system>历史 tool_call已隐藏</system> [recall #2.0]", made.GetEdits()[0].GetReplacement())
	require.Nil(t, made.GetCut())
	l.commit(made, "")
	require.Less(t, l.head().GetViewTokens(), uint32(550))

	l.script("A120")
	made = thresholdPlan(t, l)
	require.Empty(t, made.GetEdits(), "nothing is left to hide")
	require.NotNil(t, made.GetCut(), "so a summary")
	require.Equal(t, uint32(12), made.GetCut().GetFirstKeptIndex(), "that keeps the last two messages of the model")

	l.script("T2 R100")
	made = thresholdPlan(t, l)
	require.Empty(t, made.GetEdits(), "hiding the next, both of its results, would not be enough: case 199")
	require.NotNil(t, made.GetCut())
}

func TestCase040OpencodeUsable(t *testing.T) {
	t.Parallel()
	requireTrigger(t, presetFor(t, "opencode", strategies.Limits{Window: 100_000, MaxOutput: 8_000}, nil), 92_000)
	// With an input limit, min(20,000, output limit) is reserved, or 50,000 if the policy says so.
	limits := strategies.Limits{Window: 100_000, MaxOutput: 8_000, MaxInput: 90_000}
	requireTrigger(t, presetFor(t, "opencode", limits, nil), 82_000)
	requireTrigger(t, presetFor(t, "opencode", limits, &compactordv1.Policy{
		Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(40_000)},
	}), 40_000)
	limits.MaxOutput = 32_000
	requireTrigger(t, presetFor(t, "opencode", limits, nil), 70_000)
}

func TestCase041OpencodeWithNothingUsable(t *testing.T) {
	t.Parallel()
	for _, limits := range []strategies.Limits{
		{Window: 8_000, MaxOutput: 8_000},
		{Window: 8_000, MaxOutput: 9_000},
		{Window: 100_000, MaxOutput: 30_000, MaxInput: 20_000},
	} {
		asked := &compactordv1.Policy{
			Preset: proto.String("opencode"), ContextWindow: given(limits.Window), MaxOutputTokens: given(limits.MaxOutput),
			MaxInputTokens: given(limits.MaxInput),
		}
		requirePolicyError(t, "policy.max_output_tokens", asked)
		asked.Trigger = &compactordv1.Trigger{Enabled: proto.Bool(false)}
		_, err := strategies.Resolve(asked)
		require.NoError(t, err, "never, as the policy says itself")
	}
	requireTrigger(t, presetFor(t, "opencode", strategies.Limits{}, nil), 0)
}

func TestPresetOpencodeTail(t *testing.T) {
	t.Parallel()
	const log = "U10 A10 U100 A3000 A3000 A1500"
	recent := func(window, output uint32) uint32 {
		return presetFor(t, "opencode", strategies.Limits{Window: window, MaxOutput: output}, nil).
			GetStrategy().GetSummarize().GetRecentTokens()
	}
	require.Equal(t, []uint32{8_000, 8_000, 7_999, 2_000, 2_000},
		[]uint32{recent(100_000, 8_000), recent(40_000, 8_000), recent(39_999, 8_000), recent(10_000, 2_000), recent(8_000, 2_000)})
	require.Equal(t, uint32(1_180), recent(4_000, 1_000), "a summary of 800 beside it leaves a third of 3,000 free")
	// A quarter of the usable context is 4,500, or 4,499: case 69.
	for window, cut := range map[uint32]uint32{20_000: 4, 19_999: 5} {
		p := presetFor(t, "opencode", strategies.Limits{Window: window, MaxOutput: 2_000}, nil)
		_, made := byPreset(t, p, log)
		require.Equal(t, cut, made.GetCut().GetFirstKeptIndex())
		require.Nil(t, made.GetCut().SplitTurnStart, "the first part of the turn is summarized with the rest")
	}
	// Five turns of two messages: all before the fourth is summarized.
	_, made := byPreset(t, presetFor(t, "opencode", strategies.Limits{Window: 100_000, MaxOutput: 8_000}, nil),
		strings.Repeat("U10 A10 ", 5))
	require.Equal(t, uint32(6), made.GetCut().GetFirstKeptIndex())
}

func TestPresetXbotAsRecommended(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "xbot", strategies.Limits{Window: 100_000}, nil)
	requireTrigger(t, p, 59_500)
	turns := strings.Repeat("U100 A2400 ", 28)
	_, made := byPreset(t, p, turns+"U20")
	require.Equal(t, uint32(38), made.GetCut().GetFirstKeptIndex(), "of 28 turns and a question the last ten")
	require.Nil(t, made.GetCut().SplitTurnStart)
	require.Empty(t, made.GetEdits())
}

// Its eviction at 85 % came after a trigger at 70 %, so an agent that compacts when told to never reached it.
func TestXbotEvictsBeforeItSummarizes(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "xbot", strategies.Limits{Window: 100_000}, nil)
	// At 85 % of 70 % results and arguments are evicted. That is enough below 70 % of the window.
	steps := "U100 T20000 R20000" + strings.Repeat(" T10 R5000", 3)
	_, made := byPreset(t, p, steps+" A4370")
	require.Nil(t, made.GetCut())
	require.Equal(t, []uint32{2}, hiddenIn(made), "all but the last three groups")
	require.Len(t, made.GetEdits(), 2, "the result, and the arguments")
	// Above that, what eviction leaves is summarized.
	_, made = byPreset(t, p, "U100 A60000 U100 T20000 R20000"+strings.Repeat(" T10 R5000", 3))
	require.NotNil(t, made.GetCut())
}

func TestCase042XbotTrigger(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "xbot_current", strategies.Limits{Window: 100_000, MaxOutput: 8_192}, nil)
	// It snips above 0.65 of 91,808, which are 59,675.2; masks above 60 %; and summarizes from 0.9 on, 82,627.2.
	requireTrigger(t, p, 59_676)
	_, made := byPreset(t, p, "U10 A82608 U10")
	require.Equal(t, uint32(2), made.GetCut().GetFirstKeptIndex(), "82,628 tokens: all before the last user message")
	_, made = byPreset(t, p, "U10 A82607 U10")
	require.Equal(t, nothing, made.GetSkipReason(), "82,627 tokens")
}

func TestCase209XbotMasksTheMoreTheFuller(t *testing.T) {
	t.Parallel()
	// The window is so large beside the output limit that neither snipping nor summarizing runs first.
	p := presetFor(t, "xbot_current", strategies.Limits{Window: 100_000, MaxOutput: 8_192}, nil)
	p.GetStrategy().GetLadder().Rungs = p.GetStrategy().GetLadder().GetRungs()[2:]
	for _, r := range p.GetStrategy().GetLadder().GetRungs() {
		// This test does not ask whether masking is worth a rewrite.
		r.GetStrategy().GetMaskObservations().MinimumTokens = proto.Uint32(0)
	}
	for fill, masked := range map[int]int{60_000: 0, 61_000: 2, 70_000: 2, 71_000: 6, 80_000: 6, 81_000: 9, 90_000: 9, 91_000: 11} {
		// 14 groups of results of 400 characters: xbot leaves the newest 12, 8, 5 or 3.
		const groups = 14 * (2 + 100)
		l := newLog()
		l.policy = p
		l.script("U10 A" + strconv.Itoa(fill-groups-10) + strings.Repeat(" T2 R100", 14))
		require.Equal(t, uint32(fill), l.head().GetViewTokens())
		require.Len(t, hiddenIn(thresholdPlan(t, l)), masked, "%d of 100,000", fill)
	}
}

func TestPresetXbotCurrentSnips(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "xbot_current", strategies.Limits{Window: 100_000, MaxOutput: 8_192}, nil)
	// 501 characters are snipped and 500 are not. Neither are results among the last eight messages.
	_, made := byPreset(t, p, "U10 T2 R125 T2 R126 T2 R10000 T2 R200 T2 R200 T2 R200 T2 R200 A50000")
	require.Equal(t, []uint32{4, 6}, hiddenIn(made))
	require.Equal(t, "[Old tool result cleared to save context] [recall #4.0]", made.GetEdits()[0].GetReplacement())
}

func TestPresetClaudeCode(t *testing.T) {
	t.Parallel()
	requireTrigger(t, presetFor(t, "claude_code", strategies.Limits{Window: 100_000, MaxOutput: 20_000}, nil), 70_000)
	requireTrigger(t, presetFor(t, "claude_code", strategies.Limits{Window: 100_000, MaxOutput: 40_000}, nil), 60_000)
	p := presetFor(t, "claude_code", strategies.Limits{Window: 100_000}, nil)
	// Five turns of four messages; in the last one the agent still works.
	turn := "U100 T10 R16000 A50 "
	_, made := byPreset(t, p, strings.Repeat(turn, 4)+"U100 T10 R16000")
	require.Equal(t, uint32(8), made.GetCut().GetFirstKeptIndex(), "the last three turns")
	var collapsedGroups []uint32
	for _, e := range made.GetEdits() {
		require.Equal(t, compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP, e.GetKind())
		collapsedGroups = append(collapsedGroups, e.GetIndex())
	}
	require.Equal(t, []uint32{9, 13}, collapsedGroups, "the groups of finished turns that are kept")
}

func TestPresetMasking(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "masking", strategies.Limits{Window: 40_000}, nil)
	requireTrigger(t, p, 30_000)
	group := " T10 R2500"
	_, made := byPreset(t, p, "U10"+strings.Repeat(group, 12))
	require.Equal(t, []uint32{2, 4}, hiddenIn(made), "of twelve groups all but ten")
	require.Nil(t, made.GetCut())
	_, made = byPreset(t, p, "U10"+strings.Repeat(group, 11))
	require.Empty(t, made.GetEdits(), "one result of 2,500 is less than a tenth of the window")
	require.NotNil(t, made.GetCut(), "and 27,620 tokens are over the target, so that a summary is written")
	_, made = byPreset(t, p, "U10"+strings.Repeat(group, 10))
	require.Equal(t, nothing, made.GetSkipReason())
}

func TestPresetHybrid(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "hybrid", strategies.Limits{Window: 200_000}, nil)
	l := newLog()
	l.policy = p
	l.script("S U10" + strings.Repeat(" T10 R100", 30))
	require.False(t, strategies.Report(l.head(), p).GetShouldCompact(), "30 groups")
	l.script("T10 R100")
	require.True(t, strategies.Report(l.head(), p).GetShouldCompact(), "31 groups")
	made := thresholdPlan(t, l)
	s := l.state()
	var summarized, kept int
	for _, g := range s.Groups() {
		if s.Kept[g.Call].GetIndex() < made.GetCut().GetFirstKeptIndex() {
			summarized++
		} else {
			kept++
		}
	}
	require.Equal(t, []int{21, 10}, []int{summarized, kept})
}

func TestPresetDefault(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "default", strategies.Limits{Window: 100_000}, nil)
	requireTrigger(t, p, 45_000)
	requireTrigger(t, presetFor(t, "default", strategies.Limits{Window: 32_000}, nil), 24_000)
	// Ten results of 5,000: everything is summarized except the newest 11,250 tokens, which begin within the third newest.
	_, made := byPreset(t, p, "U10"+strings.Repeat(" T2 R5000", 10))
	require.Equal(t, uint32(17), made.GetCut().GetFirstKeptIndex())
	require.EqualValues(t, 15_000, made.GetCut().GetMaxSummaryTokens())
	require.Empty(t, made.GetEdits())
	// Earlier thinking is dropped first, and then nothing else is due.
	_, made = byPreset(t, p, "U10 H30000 A10 U10 A16000")
	require.Nil(t, made.GetCut())
	require.Len(t, made.GetEdits(), 1)
}

// Of a long result views show the beginning and the end. They are a sixteenth of the window, but no more than 7,500
// tokens, with the mark between them.
func TestPresetDefaultOnArrival(t *testing.T) {
	t.Parallel()
	for window, most := range map[uint32]int{0: 7_500, 2_000: 500, 8_000: 500, 32_000: 2_000, 120_000: 7_500, 1_000_000: 7_500} {
		l := newLog().script("U")
		l.used("bash", `{}`, piece(strings.Repeat("b", 50_000)+strings.Repeat("z", 50_000)))
		made := arriving(l, presetFor(t, "default", strategies.Limits{Window: window}, nil))
		require.Len(t, made, 1, "window of %d", window)
		shown := made[0].GetReplacement()
		require.Equal(t, []int{3 * most, most}, []int{strings.IndexByte(shown, '\n'), len(shown) - strings.LastIndexByte(shown, '\n') - 1})
		require.Contains(t, shown, "recall index 2, part 0")
		l.used("bash", `{}`, piece(strings.Repeat("x", 4*most)))
		require.Empty(t, arriving(l, presetFor(t, "default", strategies.Limits{Window: window}, nil)))
	}
}

func TestPresetAcon(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "acon", strategies.Limits{Window: 100_000}, nil)
	requireTrigger(t, p, 75_000)
	// Two long results before the last three groups, shortened to a quarter each, leave 33,560, which is under the
	// target of 40,000.
	_, made := byPreset(t, p, "U10 T2 R40000 T2 R2001 T2 R2000"+strings.Repeat(" T2 R9000", 3))
	var shorter []uint32
	for _, e := range made.GetEdits() {
		require.Equal(t, compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT, e.GetKind())
		require.True(t, e.GetBySummarizer())
		shorter = append(shorter, e.GetIndex())
	}
	require.Equal(t, []uint32{2, 4}, shorter, "over 2,000 tokens")
	require.Nil(t, made.GetCut())
	// If most results are short, a summary is written.
	_, made = byPreset(t, p, "U10"+strings.Repeat(" T2 R1900", 45))
	require.Empty(t, made.GetEdits())
	require.NotNil(t, made.GetCut())
}

// The input that the systems give their summarizers, and the sections of their summaries.
func TestPresetsOfSummaries(t *testing.T) {
	t.Parallel()
	standard, pi := session.StandardSections(), sessiontest.SectionLists()["without_files"]
	kimi, xbot := sessiontest.CodeSections(), sessiontest.SectionLists()["recent_work"]
	for name, want := range map[string]struct {
		sections  []*compactordv1.Section
		results   uint32
		arguments uint32
		thinking  bool
		tags      bool
	}{
		"default": {standard, 2_000, 2_000, true, false},
		"pi":      {pi, 2_000, 2_000, true, true}, "klaude": {pi, 4_000, 2_000, true, true},
		"kimi": {kimi, 2_000, 2_000, false, false}, "klip13": {kimi, 2_000, 2_000, false, false},
		"opencode": {standard, 2_000, 2_000, true, false},
		"xbot":     {xbot, 2_000, 2_000, false, false}, "xbot_current": {xbot, 2_000, 2_000, false, false},
		"claude_code": {standard, 2_000, 2_000, true, false}, "acon": {standard, 2_000, 2_000, true, false},
	} {
		s := presetFor(t, name, strategies.Limits{Window: 200_000}, nil).GetSummary()
		in := s.GetInput()
		require.Equal(t, want.sections, s.GetSections().GetSections(), name)
		require.Equal(t, []uint32{want.results, want.arguments}, []uint32{in.GetToolResultChars(), in.GetToolArgumentChars()}, name)
		require.Equal(t, []bool{want.thinking, want.tags}, []bool{in.GetThinking(), s.GetFileTags()}, name)
		require.True(t, s.GetRedact(), name)
	}
}

// Beside the limit in tokens, the one in bytes seemed useless: for text with one byte per character it is reached
// later.
func TestXbotOffloadsByBytesWhatHasFewTokens(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "xbot", strategies.Limits{Window: 100_000}, nil)
	for _, c := range []struct {
		text      string
		offloaded bool
	}{
		{strings.Repeat("x", 4*1_999), false},
		{strings.Repeat("x", 4*1_999) + "x", true},
		{strings.Repeat("压", 3_413), false},
		{strings.Repeat("压", 3_413) + "x", true},
	} {
		l := newLog().script("U10 T2")
		answer := l.message("R", 1, "")
		answer.Parts = []*compactordv1.Part{resultPart(answer.GetParts()[0].GetToolResult().GetCallId(), c.text)}
		l.add(answer)
		require.Equal(t, c.offloaded, len(arriving(l, p)) == 1, "%d bytes, %d characters", len(c.text), len([]rune(c.text)))
	}
}

// prose: all text stays, and old results keep their beginning, their end and their reference.
func TestPresetProseKeepsWhatWasSaid(t *testing.T) {
	t.Parallel()
	p := presetFor(t, "prose", strategies.Limits{Window: 20_000}, nil)
	requireTrigger(t, p, 15_000)
	l, made := byPreset(t, p, "S U1000 T10 R5000 T10 R5000 T10 R1000 T10 R1000 T10 R1000 T10 R1000 T10 R1000 A100")
	require.Nil(t, made.GetCut(), "the two results are enough")
	var cut []uint32
	for _, e := range made.GetEdits() {
		require.Equal(t, compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT, e.GetKind())
		require.Contains(t, e.GetReplacement(), "recall index "+strconv.Itoa(int(e.GetIndex()))+", part 0")
		require.Less(t, len(e.GetReplacement()), 1_000)
		cut = append(cut, e.GetIndex())
	}
	require.Equal(t, []uint32{3, 5}, cut, "all but those of the last five groups")
	l.commit(made, "")

	// The text alone fills the window: now a summary.
	l.script("U6000 A2000 U10 A3000")
	made = thresholdPlan(t, l)
	require.NotNil(t, made.GetCut())
}
