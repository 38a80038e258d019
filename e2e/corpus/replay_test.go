package corpus_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/e2e/corpus"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
)

const threshold = compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD

// resolved returns the policy of a preset for a window.
func resolved(t testing.TB, preset string, window uint32) *compactordv1.Policy {
	t.Helper()
	policy, err := strategies.Resolve(&compactordv1.Policy{
		Preset: &preset, ContextWindow: &window, MaxOutputTokens: proto.Uint32(window / 8),
	})
	require.NoError(t, err)
	return policy
}

// tokensOf returns the estimate of a recording.
func tokensOf(t testing.TB, messages []*compactordv1.Message) uint32 {
	t.Helper()
	counter, err := session.CounterFor(0)
	require.NoError(t, err)
	var tokens uint32
	for _, m := range messages {
		tokens += session.MessageTokens(counter, m)
	}
	return tokens
}

// TestPresetsOnEveryRecording replays each recording under each preset, with a window that is too small for it. Each
// plan is valid, each rewrite makes the view smaller, and the view agrees with the naive model. Between two rewrites
// there is as much new content as the preset demands. Golden files have the figures.
func TestPresetsOnEveryRecording(t *testing.T) {
	t.Parallel()
	files := sample(corpus.Files(t))
	for _, preset := range strategies.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			rewrites := 0
			var lines []string
			for _, file := range files {
				messages := corpus.Read(t, file)
				r := corpus.NewReplay(t, resolved(t, preset, outgrown(t, messages)))
				plans := replayAll(t, r, messages)
				requireFarApart(t, r, r.Policy.GetStrategy(), filepath.Base(file))
				rewrites += len(r.Rewrites)
				lines = append(lines, figures(filepath.Base(file), r, plans))
			}
			require.Greater(t, rewrites, len(files)/2, "it hardly does anything")
			requireLines(t, "recordings/"+preset+".txt", lines)
		})
	}
}

// outgrown returns a window of a third of a recording's tokens.
func outgrown(t testing.TB, messages []*compactordv1.Message) uint32 {
	t.Helper()
	return max(4_000, tokensOf(t, messages)/3)
}

// replayAll appends a recording, compacts when compaction is due, and checks each rewrite. It returns all plans, also
// those that do nothing.
func replayAll(t *testing.T, r *corpus.Replay, messages []*compactordv1.Message) []*compactordv1.CompactionPlan {
	t.Helper()
	var plans []*compactordv1.CompactionPlan
	var prefix []*compactordv1.ViewMessage
	for _, m := range messages {
		if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT && r.Due(t) {
			before := r.Writer.Log.Newest()
			plan := r.Plan(t, threshold, r.Policy.GetStrategy())
			if plan.GetCut() != nil || len(plan.GetEdits()) > 0 {
				requireGrown(t, r, prefix)
				r.Carry(t, threshold, plan)
			}
			plans = append(plans, plan)
			if r.Writer.Log.Newest() != before {
				prefix = requireAsModel(t, r)
			}
		}
		before := len(r.OnUserMessage)
		r.Append(t, m)
		if len(r.OnUserMessage) != before {
			prefix = nil
		}
	}
	requireGrown(t, r, prefix)
	requireAsModel(t, r)
	for i, done := range slices.Concat(r.Rewrites, r.OnUserMessage) {
		require.Less(t, done.After, done.Before, "rewrite %d", i)
	}
	return plans
}

// requireGrown requires that the view has only grown since the last check (I8).
func requireGrown(t *testing.T, r *corpus.Replay, prefix []*compactordv1.ViewMessage) {
	t.Helper()
	if len(prefix) == 0 {
		return
	}
	now := r.Writer.State().View(session.ViewOptions{}).Messages
	require.GreaterOrEqual(t, len(now), len(prefix))
	requireSame(t, prefix, now[:len(prefix)])
}

func requireAsModel(t *testing.T, r *corpus.Replay) []*compactordv1.ViewMessage {
	t.Helper()
	view := r.Writer.State().View(session.ViewOptions{}).Messages
	requireSame(t, r.Writer.Model().View(session.ViewOptions{}).Messages, view)
	return view
}

func requireSame(t *testing.T, want, got []*compactordv1.ViewMessage) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if !slices.Equal(sessiontest.Bytes(want[i]), sessiontest.Bytes(got[i])) {
			require.Fail(t, "the view is another", "message %d", i)
		}
	}
}

// TestPrunesAreFarApart replays each recording with the prune strategy of each preset, at the preset's trigger. Presets
// with the same pruning share a replay.
func TestPrunesAreFarApart(t *testing.T) {
	t.Parallel()
	for _, file := range sample(corpus.Files(t)) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			messages := corpus.Read(t, file)
			window := outgrown(t, messages)
			replayed := make(map[string]bool)
			for _, preset := range strategies.PresetNames() {
				policy := resolved(t, preset, window)
				s := policy.GetPruneStrategy()
				trigger, _ := session.TriggerTokens(policy)
				alike := fmt.Sprint(trigger, policy.GetOnAppend().GetStrategies(), policy.GetOnUserMessage().GetStrategies(), s)
				if replayed[alike] {
					continue
				}
				replayed[alike] = true
				r := corpus.NewReplay(t, policy)
				for _, m := range messages {
					if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT && r.Due(t) {
						r.Run(t, threshold, s)
					}
					r.Append(t, m)
				}
				requireFarApart(t, r, s, preset)
			}
		})
	}
}

// requireFarApart requires as much new content between two rewrites as the strategy demands. In a view that is halfway
// from the trigger to the window, a strategy that nests others does not wait, since the next answer might not fit.
func requireFarApart(t *testing.T, r *corpus.Replay, s *compactordv1.Strategy, what string) {
	t.Helper()
	least, rewrites := minimumTokens(s)
	if !rewrites {
		return
	}
	for i, done := range r.Rewrites {
		if i > 0 && (!strategies.Nests(s) || !nearlyFull(r.Policy, done.Before)) {
			require.GreaterOrEqual(t, done.Appended-r.Rewrites[i-1].Appended, least,
				"%s: rewrite %d at message %d, of %d", what, i, done.Length, len(r.Rewrites))
		}
	}
}

func nearlyFull(p *compactordv1.Policy, view uint32) bool {
	trigger, _ := session.TriggerTokens(p)
	return view >= trigger+(session.ContextLimit(p)-trigger)/2
}

// minimumTokens returns the smallest minimum of the strategies that rewrite without a summary; false if there is none.
func minimumTokens(s *compactordv1.Strategy) (uint32, bool) {
	switch k := s.GetKind().(type) {
	case *compactordv1.Strategy_PruneToolOutputs:
		return k.PruneToolOutputs.GetMinimumTokens(), true
	case *compactordv1.Strategy_MaskObservations:
		return k.MaskObservations.GetMinimumTokens(), true
	case *compactordv1.Strategy_HideToolResults:
		return k.HideToolResults.GetMinimumTokens(), true
	case *compactordv1.Strategy_ClearToolUses:
		return k.ClearToolUses.GetMinimumTokens(), true
	case *compactordv1.Strategy_Ladder:
		var all []*compactordv1.Strategy
		for _, rung := range k.Ladder.GetRungs() {
			all = append(all, rung.GetStrategy())
		}
		return leastOf(all)
	case *compactordv1.Strategy_FirstEffective:
		return leastOf(k.FirstEffective.GetStrategies())
	default:
		return 0, false
	}
}

func leastOf(all []*compactordv1.Strategy) (least uint32, found bool) {
	for _, s := range all {
		if n, ok := minimumTokens(s); ok && (!found || n < least) {
			least, found = n, true
		}
	}
	return least, found
}

// TestDefaultAndMaskingAct requires that `default` and `masking` do something on every recording over its trigger, also
// on those with one or two user messages.
func TestDefaultAndMaskingAct(t *testing.T) {
	t.Parallel()
	files := sample(corpus.Files(t))
	over := 0
	for _, file := range files {
		// All policies share one log.
		r := corpus.NewReplay(t, resolved(t, "default", 8_000))
		for _, m := range corpus.Read(t, file) {
			r.Append(t, m)
		}
		for _, window := range []uint32{8_000, 32_000, 128_000, 200_000} {
			for _, preset := range []string{"default", "masking"} {
				r.Change(resolved(t, preset, window))
				if !r.Due(t) {
					continue
				}
				over++
				plan := r.Plan(t, threshold, r.Policy.GetStrategy())
				require.True(t, plan.GetCut() != nil || len(plan.GetEdits()) > 0, "%s, %s, %d tokens: %s",
					preset, filepath.Base(file), window, plan.GetSkipReason())
			}
		}
	}
	require.Greater(t, over, len(files), "hardly a recording is over its trigger")
}

// sample returns the recordings of a short run.
func sample(files []string) []string {
	if !testing.Short() {
		return files
	}
	var some []string
	for i := 0; i < len(files); i += 12 {
		some = append(some, files[i])
	}
	return some
}
