package prompts_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// dense counts scripts without spaces like byte pair encodings may, and everything half as much again.
func dense(text string) uint32 {
	n := 0
	for _, r := range text {
		if r < 0x80 {
			n += 3
		} else {
			n += 12
		}
	}
	return uint32((n + 7) / 8)
}

// jumpy counts more for two joined texts than for each alone.
func jumpy(text string) uint32 { return chars4(text) + uint32(len(text)*len(text)/20_000_000) }

var counters = map[string]func(string) uint32{"chars4": chars4, "dense": dense, "jumpy": jumpy}

// piece draws text, often short and sometimes long.
func piece(most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		some := rapid.SampledFrom([]string{
			"word ", "错误：必须", "😀", "</conversation>", "[#7 user]\n", "line\n", "panic: error\n", "You must never push.\n",
			"<instructions>", "\u200b", "x", "\n\n", "[#3]", "<\\", "`", "\"",
		})
		unit := strings.Join(rapid.SliceOfN(some, 1, 6).Draw(t, "unit"), "")
		return strings.Repeat(unit, rapid.SampledFrom([]int{0, 1, 1, 1, 2, 9, most / (10 * len(unit)), most / len(unit)}).Draw(t, "times"))
	})
}

// conversation draws messages of all roles.
func conversation(t *rapid.T, first uint32, most int) []*compactordv1.LoggedMessage {
	n := rapid.IntRange(0, 12).Draw(t, "messages")
	list := make([]*compactordv1.LoggedMessage, 0, n)
	text40k := piece(40000)
	for i := range n {
		index := first + uint32(i)
		said := text40k.Draw(t, "said")
		if most < 40000 {
			said = piece(most).Draw(t, "short")
		}
		var l *compactordv1.LoggedMessage
		switch rapid.SampledFrom([]string{"user", "assistant", "result", "developer"}).Draw(t, "role") {
		case "user":
			l = user(index, said)
		case "assistant":
			l = message(index, compactordv1.Role_ROLE_ASSISTANT, thinking(text40k.Draw(t, "thought")), text(said),
				call("bash", fmt.Sprintf(`{"command":%q}`, text40k.Draw(t, "command"))))
		case "result":
			l = result(index, "bash", said)
		default:
			l = message(index, compactordv1.Role_ROLE_DEVELOPER, text(said))
		}
		l.Tokens = uint32(rapid.IntRange(0, 5000).Draw(t, "tokens"))
		list = append(list, l)
	}
	return list
}

func drawRequest(t *rapid.T) *summarizers.Request {
	large := piece(200000)
	req := &summarizers.Request{
		Kind:            rapid.SampledFrom([]summarizers.Kind{summarizers.History, summarizers.TurnPrefix, summarizers.Range}).Draw(t, "kind"),
		Sections:        sessiontest.Sections(t),
		Messages:        conversation(t, 2, 40000),
		Lead:            []*compactordv1.LoggedMessage{message(0, compactordv1.Role_ROLE_SYSTEM, text(large.Draw(t, "system")))},
		PreviousSummary: large.Draw(t, "previous"),
		Focus:           large.Draw(t, "focus"),
		ExtraContext:    rapid.SliceOfN(large, 0, 3).Draw(t, "context"),
		MaxTokens:       uint32(rapid.SampledFrom([]int{64, 500, 4000, 100000}).Draw(t, "budget")),
		Count:           chars4,
		Input:           summarizers.Input{ToolResultChars: rapid.SampledFrom([]int{100, 2000, 1 << 20}).Draw(t, "chars"), ToolArgumentChars: 2000, Thinking: true},
	}
	if req.Kind == summarizers.Range {
		req.Task, req.Guidelines = large.Draw(t, "task"), large.Draw(t, "guidelines")
	}
	return req
}

// TestEveryPromptKeepsToItsLimit: whatever the conversation and the model's answers, a prompt with the answer that it
// contains fits. Each message is shown once and in order, and the read tokens grow to all of them.
func TestEveryPromptKeepsToItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := drawRequest(t)
		count := counters[rapid.SampledFrom([]string{"chars4", "dense", "jumpy"}).Draw(t, "counter")]
		limits := prompts.Limits{PromptTokens: uint32(rapid.SampledFrom([]int{2000, 2500, 5000, 30000}).Draw(t, "limit")), Count: count}
		before := make([]*compactordv1.LoggedMessage, len(req.Messages))
		for i, l := range req.Messages {
			before[i] = proto.CloneOf(l)
		}
		f, err := prompts.Fold(req, limits)
		if errors.Is(err, prompts.ErrTooLarge) && limits.PromptTokens < 5000 {
			return
		}
		require.NoError(t, err)
		answer, read, all := "", uint32(0), ""
		for n := 0; ; n++ {
			p, err := f.Next(t.Context())
			require.NoError(t, err)
			if p == nil {
				break
			}
			require.Equal(t, n > 0, p.GoesOn)
			require.LessOrEqual(t, count(p.System)+count(p.User(answer)), limits.PromptTokens)
			require.LessOrEqual(t, p.Tokens, limits.PromptTokens)
			require.LessOrEqual(t, p.MaxTokens, max(64, limits.PromptTokens/4), "room for the next")
			require.LessOrEqual(t, p.MaxTokens, req.MaxTokens)
			require.GreaterOrEqual(t, p.Read, read)
			requireShape(t, p.User(answer))
			conversation, _, _ := strings.Cut(p.User(answer), "</conversation>")
			all += conversation
			read, answer = p.Read, piece(100000).Draw(t, "answer")
			if p.Final {
				require.Equal(t, sumOf(req.Messages), read)
			}
		}
		at := 0
		for _, l := range req.Messages {
			header := fmt.Sprintf("\n[#%d ", l.GetIndex())
			if len(l.GetMessage().GetParts()[0].String()) > 40 && l.GetMessage().GetRole() == compactordv1.Role_ROLE_ASSISTANT {
				found := strings.Index(all[at:], header)
				require.GreaterOrEqual(t, found, 0, "message %d", l.GetIndex())
				at += found
			}
		}
		for i, l := range req.Messages {
			require.True(t, proto.Equal(before[i], l), "the request is only read")
		}
	})
}

func sumOf(messages []*compactordv1.LoggedMessage) (tokens uint32) {
	for _, l := range messages {
		tokens += l.GetTokens()
	}
	return tokens
}

// turns returns n user messages of about this many tokens each, by chars4.
func turns(n, tokens int) []*compactordv1.LoggedMessage {
	list := make([]*compactordv1.LoggedMessage, n)
	for i := range list {
		list[i] = user(uint32(i), fmt.Sprintf("%04d", i)+strings.Repeat(" wor", tokens-1))
		list[i].Tokens = uint32(tokens)
	}
	return list
}

func fold(tb testing.TB, req *summarizers.Request, limit uint32) *prompts.Folding {
	tb.Helper()
	f, err := prompts.Fold(req, prompts.Limits{PromptTokens: limit, Count: chars4})
	require.NoError(tb, err)
	return f
}

// TestFoldFillsItsPrompts: a fold needs as few prompts as possible.
func TestFoldFillsItsPrompts(t *testing.T) {
	req := &summarizers.Request{Messages: turns(200, 200), MaxTokens: 1000, Count: chars4}
	f := fold(t, req, 8000)
	n := 0
	for {
		p, err := f.Next(t.Context())
		require.NoError(t, err)
		if p == nil {
			break
		}
		n++
		if !p.Final {
			require.Greater(t, p.Tokens+2*p.MaxTokens+64+250, uint32(8000), "no room for one more message")
			require.Contains(t, p.Text, "More of the conversation follows")
		}
	}
	require.Equal(t, 8, n)
}

// A counter may count more for joined texts. The prompt still keeps to its limit.
func TestFoldLeavesOutWhatCountsMoreTogether(t *testing.T) {
	req := &summarizers.Request{Messages: turns(200, 200), MaxTokens: 1000, Count: chars4}
	f, err := prompts.Fold(req, prompts.Limits{PromptTokens: 30000, Count: jumpy})
	require.NoError(t, err)
	for {
		p, err := f.Next(t.Context())
		require.NoError(t, err)
		if p == nil {
			break
		}
		require.LessOrEqual(t, p.Tokens, uint32(30000))
	}
}

// A model may write more than its budget. The next prompt then shows as much of that as fits.
func TestAnswerThatIsTooLongIsCut(t *testing.T) {
	f := fold(t, &summarizers.Request{Messages: turns(100, 200), MaxTokens: 1000, Count: chars4}, 8000)
	_, err := f.Next(t.Context())
	require.NoError(t, err)
	p, err := f.Next(t.Context())
	require.NoError(t, err)
	fits := "## Goal\n" + strings.Repeat("Ship it. ", 444) + "END"
	require.Contains(t, p.User(fits), fits, "1,000 tokens")
	long := p.User("## Goal\n" + strings.Repeat("Ship it. ", 5000) + "END")
	require.Contains(t, long, " characters of the summary left out ...]\n")
	require.Contains(t, long, "END\n</previous-summary>")
	require.LessOrEqual(t, chars4(p.System)+chars4(long), uint32(8000))
}

func TestPreviousSummaryAloneIsRewritten(t *testing.T) {
	previous := "## Goal\n" + strings.Repeat("Ship it. [#3]\n", 800)
	p := prompt(t, &summarizers.Request{PreviousSummary: previous, MaxTokens: 300, Count: chars4})
	require.Contains(t, p.Text, strings.TrimSpace(previous))
	require.NotContains(t, p.Text, "<conversation>\n")
	require.Equal(t, uint32(300), p.MaxTokens)
	require.Zero(t, p.Read)
	p = prompt(t, &summarizers.Request{PreviousSummary: previous, MaxTokens: 30000, Count: chars4})
	require.Equal(t, uint32(8000), p.MaxTokens, "a quarter of the window, so that the next one can take it in")
}

// TestHalve: a prompt that the model found too long is halved at most three times, and nothing is lost.
func TestHalve(t *testing.T) {
	req := &summarizers.Request{Messages: turns(60, 200), MaxTokens: 1000, Count: chars4}
	f := fold(t, req, 32000)
	require.False(t, f.Halve(), "nothing was sent yet")
	whole, err := f.Next(t.Context())
	require.NoError(t, err)
	require.True(t, whole.Final)
	last := strings.Count(whole.Text, " user]\n")
	require.Equal(t, 60, last)
	for range 3 {
		require.True(t, f.Halve())
		p, err := f.Next(t.Context())
		require.NoError(t, err)
		require.False(t, p.Final)
		require.False(t, p.GoesOn)
		took := strings.Count(p.Text, " user]\n")
		require.InDelta(t, last/2, took, 1)
		require.Equal(t, uint32(took*200), p.Read)
		last = took
	}
	require.False(t, f.Halve(), "three times")
	seen := map[string]bool{}
	text := ""
	for {
		p, err := f.Next(t.Context())
		require.NoError(t, err)
		if p == nil {
			break
		}
		require.True(t, p.GoesOn)
		text += p.User("## Goal\nx")
		if p.Final {
			require.Equal(t, uint32(60*200), p.Read)
		}
	}
	for i := last; i < 60; i++ {
		require.Equal(t, 1, strings.Count(text, fmt.Sprintf("[#%d user]", i)))
		seen[fmt.Sprint(i)] = true
	}
	require.Len(t, seen, 60-last)
}

// A single message is cut shorter and shorter, with a mark.
func TestHalveCutsTheOneMessage(t *testing.T) {
	req := &summarizers.Request{Messages: turns(1, 5000), MaxTokens: 1000, Count: chars4}
	f := fold(t, req, 32000)
	p, err := f.Next(t.Context())
	require.NoError(t, err)
	require.NotContains(t, p.Text, "left out ...]\n")
	size := len(p.Text)
	for range 3 {
		require.True(t, f.Halve())
		p, err = f.Next(t.Context())
		require.NoError(t, err)
		require.True(t, p.Final)
		require.Contains(t, p.Text, " characters of message #0 left out ...]\n")
		require.Less(t, len(p.Text), size)
		size = len(p.Text)
	}
	require.False(t, f.Halve())
	// A very small prompt is not halved.
	f = fold(t, &summarizers.Request{Messages: turns(1, 20), MaxTokens: 1000, Count: chars4}, 32000)
	_, err = f.Next(t.Context())
	require.NoError(t, err)
	require.False(t, f.Halve())
}

// A message that is too long for any prompt keeps its head and its tail, and the mark names the message.
func TestMessageTooLargeForAPromptIsCut(t *testing.T) {
	said := "HEAD " + strings.Repeat("filler ", 60000) + " TAIL"
	req := &summarizers.Request{Messages: []*compactordv1.LoggedMessage{user(7, said), user(8, "next")}, MaxTokens: 500, Count: chars4}
	f := fold(t, req, 8000)
	p, err := f.Next(t.Context())
	require.NoError(t, err)
	require.Regexp(t, `(?s)\[#7 user\]\nHEAD filler .*\n\[\.\.\. \d+ characters of message #7 left out \.\.\.\]\n.* TAIL\n</conversation>`, p.Text+p.BeforeAnswer)
	require.Greater(t, p.Tokens, uint32(6000), "as much of it as there is room for")
}

// The agent's own rules may be larger than a prompt. Constraints in them are still kept.
func TestHugeRulesKeepTheirConstraints(t *testing.T) {
	lines := strings.Repeat("The tool takes a path and returns what is there.\n", 2000)
	req := request()
	req.Lead[0] = message(0, compactordv1.Role_ROLE_SYSTEM, text("HEAD\n"+lines+"You must never touch vendor/.\n"+lines+"TAIL"))
	p := prompt(t, req)
	rules, _, _ := strings.Cut(p.Text, "</standing-rules>")
	require.Contains(t, rules, "[#0 system]\nHEAD\n")
	require.Contains(t, rules, "\nYou must never touch vendor/.\n")
	require.Contains(t, rules, "TAIL")
	require.Contains(t, rules, "characters of message #0 left out")
	require.Less(t, chars4(rules), uint32(4200))
}

func TestInstructionsTooLargeForTheModel(t *testing.T) {
	req := request()
	req.PromptOverride = strings.Repeat("Mind the details. ", 1000)
	_, err := prompts.Fold(req, prompts.Limits{PromptTokens: 2000, Count: chars4})
	require.ErrorIs(t, err, prompts.ErrTooLarge)
	_, err = prompts.Fold(req, prompts.Limits{PromptTokens: 20000, Count: chars4})
	require.NoError(t, err)
}

// TestSmallestWindow: all instructions fit the smallest window, by the counter that counts most.
func TestSmallestWindow(t *testing.T) {
	exact, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_O200K_BASE)
	require.NoError(t, err)
	count := func(text string) uint32 { return uint32(math.Ceil(float64(session.TextTokens(exact, text)) * 1.6)) }
	for name, req := range goldens() {
		if req.PromptOverride != "" {
			continue
		}
		f, err := prompts.Fold(req, prompts.Limits{PromptTokens: prompts.MinPromptTokens, Count: count})
		require.NoError(t, err, name)
		p, err := f.Next(t.Context())
		require.NoError(t, err, name)
		require.NotNil(t, p, name)
	}
}

func TestFoldStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	f := fold(t, &summarizers.Request{Messages: turns(100, 200), MaxTokens: 1000, Count: chars4}, 8000)
	_, err := f.Next(ctx)
	require.NoError(t, err)
	cause := errors.New("enough")
	cancel(cause)
	_, err = f.Next(ctx)
	require.ErrorIs(t, err, cause)
}

// TestFoldOfALongConversation: three million tokens by an exact counter. Each text is counted only a few times.
func TestFoldOfALongConversation(t *testing.T) {
	exact, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_O200K_BASE)
	require.NoError(t, err)
	tokens, messages := 3_000_000, 3000
	if testing.Short() {
		tokens = 300_000
	}
	counted := 0
	count := func(text string) uint32 { counted += len(text); return session.TextTokens(exact, text) }
	req := &summarizers.Request{Messages: turns(messages, tokens/messages), MaxTokens: 2000, Count: chars4}
	total := 0
	for _, l := range req.Messages {
		total += len(l.GetMessage().GetParts()[0].GetText().GetText())
	}
	f, err := prompts.Fold(req, prompts.Limits{PromptTokens: 30000, Count: count})
	require.NoError(t, err)
	n := 0
	for {
		p, err := f.Next(t.Context())
		require.NoError(t, err)
		if p == nil {
			break
		}
		n++
	}
	require.Greater(t, n, tokens/30000)
	require.Less(t, counted, 3*total)
}

// A previous summary may be an imported one: a thinking tag that is never closed removes nothing from it.
func TestPreviousSummaryKeepsThinkingThatIsNotClosed(t *testing.T) {
	req := request()
	req.PreviousSummary = "## Goal\n<think>hm</think>\n<think> is a tag.\n- Ship it. [#1]"
	text := prompt(t, req).Text
	require.Contains(t, text, "<think> is a tag.\n- Ship it. [#1]\n</previous-summary>")
	require.NotContains(t, text, "hm")
}

// Each prompt may be halved three times, whatever was halved before the last answer.
func TestEachPromptIsHalvedAnew(t *testing.T) {
	f := fold(t, &summarizers.Request{Messages: turns(100, 200), MaxTokens: 1000, Count: chars4}, 32000)
	next := func() { _, err := f.Next(t.Context()); require.NoError(t, err) }
	next()
	for range 3 {
		require.True(t, f.Halve())
		next()
	}
	require.False(t, f.Halve())
	next()
	require.True(t, f.Halve(), "another prompt")
}

// A prompt is never larger than the window, not by a single token, even if joined texts count more than each alone.
func TestNoPromptIsLargerThanItsWindow(t *testing.T) {
	const limit = 20000
	for by := 10_000_000; by < 120_000_000; by += 500_000 {
		// This counts a little more for joined texts than for each alone.
		count := func(text string) uint32 { return chars4(text) + uint32(len(text)*len(text)/by) }
		f, err := prompts.Fold(&summarizers.Request{Messages: turns(150, 200), MaxTokens: 1000, Count: chars4},
			prompts.Limits{PromptTokens: limit, Count: count})
		require.NoError(t, err)
		p, err := f.Next(t.Context())
		require.NoError(t, err)
		require.LessOrEqual(t, count(p.System)+count(p.Text), uint32(limit))
	}
}

// An observation also keeps to its window with a focus that is cut.
func TestObservationWithFocusKeepsToItsWindow(t *testing.T) {
	req := &summarizers.Request{
		Kind: summarizers.Observation, MaxTokens: 300, Count: chars4, Focus: strings.Repeat("focus ", 10_000),
		Result: &summarizers.ToolResult{Tool: "bash", Text: strings.Repeat("output ", 10_000)},
	}
	p, err := fold(t, req, 4000).Next(t.Context())
	require.NoError(t, err)
	require.Contains(t, p.Text, "of the focus left out")
	require.LessOrEqual(t, chars4(p.System)+chars4(p.Text), uint32(4000))
}

// If not even the headers of a message fit, the first one represents all, with a mark of what is left out.
func TestHeadersThatDoNotFitAreMarked(t *testing.T) {
	answers := result(7, "bash", "some output")
	for range 2000 {
		answers.GetMessage().Parts = append(answers.GetMessage().GetParts(), answers.GetMessage().GetParts()[0])
	}
	p, err := fold(t, &summarizers.Request{Messages: []*compactordv1.LoggedMessage{answers}, MaxTokens: 500, Count: chars4}, 4000).Next(t.Context())
	require.NoError(t, err)
	require.Contains(t, p.Text, "[#7 result of bash]\n[... 22011 characters left out ...]\n</conversation>")
	require.Equal(t, 1, strings.Count(p.Text, "[#7 "))
}

// A prompt names the part of the budget that is the model's.
func TestPromptNamesTheModelsBudget(t *testing.T) {
	req := &summarizers.Request{Messages: turns(10, 200), MaxTokens: 1000, NarrativeTokens: 450, Count: chars4}
	closing := prompts.Closing(req)
	for text, p := range map[string]*prompts.Prompt{prompt(t, req).Text: prompt(t, req), closing.Text: closing} {
		require.Contains(t, text, "Use at most 450 tokens")
		require.Equal(t, uint32(450), p.MaxTokens)
	}
}
