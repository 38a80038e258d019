package strategies_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/strategies"
)

// editsAlone says why the edits of some presets may leave less than a third of the trigger free, though their cuts do
// not. docs/presets.md also says so for each.
var editsAlone = map[string]string{
	"klip13":       "what is below the trigger is enough, as in the draft",
	"xbot":         "evicting comes before the summary, and frees a tenth of the window at least",
	"xbot_current": "masking frees the more the fuller the window is, as in xbot",
	"masking":      "the last ten groups stay whole, as in the study",
}

// smallestTrigger is the lowest trigger for which this holds to the token.
const smallestTrigger = 4_000

// missingUnder returns the most tokens that may be missing from the free third of a trigger. A cut leaves at least a
// sixteenth of the other two thirds for its summary. The summary gets three quarters of that, and at least 64 tokens; the
// words around it have some 50. They come on top of a budget of up to 128, since the text can have all of that.
func missingUnder(trigger int) int {
	if trigger >= smallestTrigger {
		return 0
	}
	forSummary := trigger / 24
	return max(64+50-forSummary, 50)
}

// An agent under pi in a window of 50,000 was told to compact 38 times, and had 32,000 tokens of a trigger of 37,500 left
// after most of them; default in 8,000 rewrote its view every 4.5 requests.
func TestPresetsLeaveAThirdOfTheTriggerFree(t *testing.T) {
	t.Parallel()
	for _, name := range strategies.PresetNames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			did := seen{}
			rapid.Check(t, func(t *rapid.T) {
				p := presetOf(t, name)
				trigger, due := session.TriggerTokens(p)
				if !due || !p.GetTrigger().GetEnabled() {
					did.count("never due", true)
					return
				}
				did.count(workUnder(t, name, p, int(trigger)), true)
			})
			did.require(t, 5, "cut")
		})
	}
}

// presetOf draws a preset for a possible model.
func presetOf(t *rapid.T, name string) *compactordv1.Policy {
	window := uint32(4_000 * math.Pow(250, float64(dice(t, 1000))/999))
	switch dice(t, 3) {
	case 0:
		window = rapid.SampledFrom([]uint32{4_000, 8_000, 16_000, 32_000, 50_000, 64_000, 128_000, 200_000, 1_000_000}).Draw(t, "window")
	case 1:
		// In the smallest windows rounding and the words around a summary matter most.
		window = 4_000 + uint32(dice(t, 2_000))
	}
	given := &compactordv1.Policy{Preset: &name, ContextWindow: &window}
	if dice(t, 2) == 0 {
		given.MaxOutputTokens = proto.Uint32(window / uint32(2+dice(t, 10)))
	}
	if dice(t, 2) == 0 {
		given.MaxInputTokens = proto.Uint32(window - window/uint32(3+dice(t, 10)))
	}
	p, err := strategies.Resolve(given)
	require.NoError(t, err)
	return p
}

// workUnder lets an agent work until compaction is due, and compacts. One message has at most a twelfth of the trigger,
// since what nobody can remove must leave a third free. It returns what was done.
func workUnder(t *rapid.T, name string, p *compactordv1.Policy, trigger int) string {
	l := newLog()
	l.policy = p
	l.script(fmt.Sprintf("S%d", trigger/12*dice(t, 2)))
	// `default` does not count the messages at the start.
	beside, _ := session.TriggerTokensIn(l.head(), p)
	trigger = int(beside)
	part := func() int { return 1 + dice(t, trigger/12) }
	for compactions, steps := 0, 0; steps < 400; steps++ {
		switch dice(t, 8) {
		case 0:
			l.script(fmt.Sprintf("U%d A%d", part()/4, part()/2))
		case 1:
			l.script(fmt.Sprintf("U%d", part()/2))
		default:
			l.script(fmt.Sprintf("T%d R%d", part()/4, part()))
		}
		before := strategies.Report(l.head(), p)
		if !before.GetShouldCompact() {
			continue
		}
		in := &strategies.Input{State: l.state(), Policy: p, Reason: due}
		made, err := registry().Plan(t.Context(), in, p.GetStrategy())
		require.NoError(t, err)
		require.NoError(t, strategies.Check(in, made))
		if made.GetCut() == nil && len(made.GetEdits()) == 0 {
			continue
		}
		l.commit(made, textOf(largestText(l.state(), p, int(made.GetCut().GetMaxSummaryTokens()))))
		left := int(strategies.Report(l.head(), p).GetTokens())
		if made.GetCut() == nil && editsAlone[name] != "" {
			continue
		}
		require.LessOrEqual(t, 3*(left-missingUnder(trigger)), 2*trigger, "%d of %d tokens after %v", left, trigger, made)
		if compactions++; compactions == 2 {
			return map[bool]string{true: "cut", false: "edits"}[made.GetCut() != nil]
		}
	}
	return "many requests"
}

// largestText returns the tokens of the largest text that a summary with this budget has: the sentences around it are in
// the budget, unless that is for the text alone.
func largestText(s *session.State, p *compactordv1.Policy, budget int) int {
	if strategies.BudgetsTextAlone(p) {
		return budget
	}
	frame := int(session.TextTokens(s.Counter, wording.Summary(&compactordv1.CompactionEntry{})))
	return max(min(budget, 128), budget-frame)
}

// What a preset keeps and its largest summary fit two thirds of the trigger, and in default the target: it once kept
// 4,000 tokens of 8,000, with a target of 3,200. Large windows have the systems' own figures.
func TestPresetNumbersLeaveRoom(t *testing.T) {
	t.Parallel()
	numbers := func(name string, window, output uint32) (recent, summary, trigger uint32, p *compactordv1.Policy) {
		given := &compactordv1.Policy{Preset: &name, ContextWindow: &window}
		if output > 0 {
			given.MaxOutputTokens = &output
		}
		p, err := strategies.Resolve(given)
		require.NoError(t, err)
		for n := range strategies.Nested(p.GetStrategy()) {
			if s := n.Strategy.GetSummarize(); s != nil {
				recent, summary = s.GetRecentTokens(), s.GetMaxSummaryTokens()
			}
		}
		trigger, _ = session.TriggerTokens(p)
		return recent, summary, trigger, p
	}
	for _, name := range []string{"default", "pi", "klaude", "opencode", "masking", "acon"} {
		for window := uint32(4_000); window <= 1_000_000; window += 500 {
			recent, summary, trigger, p := numbers(name, window, window/4)
			if name == "pi" {
				summary += summary*5/8 + 33
			}
			require.LessOrEqual(t, 3*(recent+summary), 2*trigger, "%s in %d", name, window)
			require.Positive(t, recent)
			if name == "default" {
				require.LessOrEqual(t, recent+summary, p.GetTrigger().GetTargetTokens(), "in %d", window)
			}
		}
	}
	for _, c := range []struct {
		name                    string
		window, recent, summary uint32
	}{
		{"default", 8_000, 1_500, 2_000},
		{"default", 16_000, 3_000, 4_000},
		{"default", 32_000, 6_000, 8_000},
		{"default", 60_000, 11_250, 15_000},
		{"default", 1_000_000, 11_250, 15_000},
		{"masking", 8_000, 1_600, 1_600},
		{"masking", 82_768, 20_000, 13_107},
		{"pi", 50_000, 8_468, 10_000},
		{"pi", 79_010, 20_000, 13_107},
		{"pi", 200_000, 20_000, 13_107},
		{"klaude", 128_000, 20_000, 13_107},
		{"opencode", 200_000, 8_000, 13_107},
	} {
		recent, summary, _, _ := numbers(c.name, c.window, 0)
		require.Equal(t, []uint32{c.recent, c.summary}, []uint32{recent, summary}, "%s in %d", c.name, c.window)
	}
}

// With 8,192 tokens for an answer of unknown length, compaction under xbot_current was due at 1,176 tokens in a window
// of 10,000, and at 1 in one of 8,193.
func TestXbotCurrentLeavesHalfOfASmallWindowToWorkIn(t *testing.T) {
	t.Parallel()
	for window := uint32(4_000); window <= 20_000; window++ {
		p, err := strategies.Resolve(&compactordv1.Policy{Preset: proto.String("xbot_current"), ContextWindow: &window})
		require.NoError(t, err)
		trigger, _ := session.TriggerTokens(p)
		require.Greater(t, trigger, window*3/10, "in %d", window)
	}
}

// A caller that set trigger.trigger_tokens, as opencode's refusal asks, got a session with compaction disabled.
func TestATriggerOfOnesOwnIsNotDisabledByThePreset(t *testing.T) {
	t.Parallel()
	limits := &compactordv1.Policy{ContextWindow: proto.Uint32(8_000), MaxOutputTokens: proto.Uint32(8_000)}
	enabled := func(name string, trigger *compactordv1.Trigger) bool {
		p, err := strategies.Resolve(&compactordv1.Policy{Preset: &name, Trigger: trigger}, limits)
		require.NoError(t, err)
		return p.GetTrigger().GetEnabled()
	}
	for _, name := range []string{"opencode", "klaude"} {
		require.True(t, enabled(name, &compactordv1.Trigger{TriggerTokens: proto.Uint32(6_000)}))
		require.False(t, enabled(name, &compactordv1.Trigger{TriggerTokens: proto.Uint32(6_000), Enabled: proto.Bool(false)}))
	}
	for _, own := range []*compactordv1.Trigger{
		{TriggerRatio: proto.Float64(0.5)},
		{ReserveTokens: proto.Uint32(2_000)},
		{TriggerToolGroups: proto.Uint32(9)},
		{MaxViewBytes: proto.Uint32(30_000)},
	} {
		require.True(t, enabled("klaude", own), own)
	}
	require.False(t, enabled("klaude", &compactordv1.Trigger{FreeRatio: proto.Float64(0.5)}), "that is no trigger")
}
