package corpus_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/e2e/corpus"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// Prices of tokens with a prompt cache, as shares of the price of an input token.
const (
	readPrice  = 0.1
	writePrice = 1.25
)

// run is what the requests of a recording cost, in input tokens, and the largest of them.
type run struct {
	cost float64
	peak uint32
}

// costOf replays a recording and prices each request: the tokens with which the request before began are read from the
// cache, and the others are written. All summaries fill their budget.
func costOf(t testing.TB, messages []*compactordv1.Message, policy *compactordv1.Policy) run {
	t.Helper()
	r := corpus.NewReplay(t, policy)
	var total run
	var sent uint32
	for i, m := range messages {
		if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT && i > 0 {
			if r.Due(t) {
				before := r.Writer.State().View(session.ViewOptions{}).Messages
				r.Run(t, threshold, r.Policy.GetStrategy())
				sent = min(sent, shared(before, r.Writer.State().View(session.ViewOptions{}).Messages))
			}
			now := r.Writer.Head.GetViewTokens()
			sent = min(sent, now)
			total.cost += readPrice*float64(sent) + writePrice*float64(now-sent)
			total.peak = max(total.peak, now)
			sent = now
		}
		r.Append(t, m)
	}
	return total
}

// shared returns the tokens with which both views begin.
func shared(a, b []*compactordv1.ViewMessage) uint32 {
	var tokens uint32
	for i := range min(len(a), len(b)) {
		if !proto.Equal(a[i].GetMessage(), b[i].GetMessage()) {
			break
		}
		tokens += a[i].GetTokens()
	}
	return tokens
}

// mostAbove is how much more than the best trigger `default` may cost.
const mostAbove = 1.15

// TestDefaultCostsLeast replays the 15 longest recordings under `default`, and under the same policy with other
// triggers. No trigger that the window has space for costs much less, and no request exceeds the window.
func TestDefaultCostsLeast(t *testing.T) {
	t.Parallel()
	files := longest(t, 15)
	for _, window := range []uint32{32_000, 64_000, 128_000, 200_000, 1_000_000} {
		if testing.Short() && window != 32_000 && window != 200_000 {
			continue
		}
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			t.Parallel()
			var own, best float64
			for _, file := range files {
				messages := corpus.Read(t, file)
				policy := resolved(t, "default", window)
				r := costOf(t, messages, policy)
				require.LessOrEqual(t, r.peak, window, filepath.Base(file))
				least := r.cost
				documented := min(45_000, window/4*3)
				for _, percent := range []uint32{70, 80, 90, 120, 160, 250} {
					if other := documented / 100 * percent; other < window {
						least = min(least, costOf(t, messages, triggeredAt(policy, other, documented)).cost)
					}
				}
				own, best = own+r.cost, best+least
			}
			t.Logf("%.0f input tokens, %.1f %% more than with the best trigger for each recording", own, 100*(own/best-1))
			require.Less(t, own, mostAbove*best)
		})
	}
}

// triggeredAt returns a policy with another trigger, which keeps what `default` keeps by its documented trigger.
func triggeredAt(p *compactordv1.Policy, tokens, documented uint32) *compactordv1.Policy {
	p = proto.CloneOf(p)
	rungs := p.GetStrategy().GetLadder().GetRungs()
	cut := rungs[len(rungs)-1].GetStrategy().GetSummarize()
	cut.RecentTokens, cut.MaxSummaryTokens = proto.Uint32(documented/4), proto.Uint32(documented/3)
	p.Trigger.TargetTokens = proto.Uint32(documented / 2)
	p.Trigger.TriggerTokens, p.Trigger.TriggerConversationTokens = &tokens, nil
	p.Trigger.TriggerRatio, p.Trigger.ReserveTokens = nil, nil
	return p
}

// longest returns the longest recordings; in a short run only a third of them.
func longest(t *testing.T, n int) []string {
	t.Helper()
	files := slices.Clone(corpus.Files(t))
	slices.SortStableFunc(files, func(a, b string) int {
		return cmp.Compare(tokensOf(t, corpus.Read(t, b)), tokensOf(t, corpus.Read(t, a)))
	})
	files = files[:min(n, len(files))]
	if !testing.Short() {
		return files
	}
	var some []string
	for i := 0; i < len(files); i += 3 {
		some = append(some, files[i])
	}
	return some
}

func TestDefaultFitsASmallWindow(t *testing.T) {
	t.Parallel()
	for _, file := range sample(corpus.Files(t)) {
		const window = 32_000
		require.LessOrEqual(t, costOf(t, corpus.Read(t, file), resolved(t, "default", window)).peak, uint32(window),
			filepath.Base(file))
	}
}

// Results of any size never make a request larger than the window, also not those of parallel calls, nor beside an
// overhead.
func TestDefaultSendsNothingAboveTheWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		window := rapid.SampledFrom([]uint32{8_000, 16_000, 32_000, 64_000, 200_000}).Draw(rt, "window")
		policy := resolved(t, "default", window)
		policy.OverheadTokens = proto.Uint32(rapid.Uint32Range(0, window/8).Draw(rt, "overhead"))
		r := corpus.NewReplay(t, policy)
		r.Append(t, spoken(compactordv1.Role_ROLE_USER, 100))
		for step := range 40 {
			if r.Due(t) {
				r.Run(t, threshold, policy.GetStrategy())
			}
			if now := strategies.Report(r.Writer.Head, policy).GetTokens(); now > window {
				rt.Fatalf("request %d has %d tokens", step, now)
			}
			for _, m := range parallelCalls(rt, step, window) {
				r.Append(t, m)
			}
		}
	})
}

// parallelCalls returns a message with one to four calls, and their results.
func parallelCalls(t *rapid.T, step int, window uint32) []*compactordv1.Message {
	said := spoken(compactordv1.Role_ROLE_ASSISTANT, rapid.Uint32Range(1, window/64).Draw(t, "said"))
	messages := []*compactordv1.Message{said}
	for call := range rapid.IntRange(1, 4).Draw(t, "calls") {
		id := fmt.Sprintf("%d-%d", step, call)
		said.Parts = append(said.Parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
			ToolCall: &compactordv1.ToolCall{Id: id, Name: "ls", Arguments: "{}"},
		}})
		text := strings.Repeat("word", int(rapid.Uint32Range(0, window).Draw(t, "result")))
		messages = append(messages, &compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
				CallId: id, Parts: []*compactordv1.ResultPart{{
					Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: text}},
				}},
			}},
		}}})
	}
	return messages
}

func spoken(role compactordv1.Role, tokens uint32) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("word", int(tokens))}},
	}}}
}
