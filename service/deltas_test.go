package service_test

import (
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A client that replays a recording message by message and updates its view by deltas has the whole view at every step,
// whatever happens to the session in between.
func TestDeltasOverTheCorpusMessageByMessage(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	for i, path := range corpusFiles(t) {
		if !sampled(i) {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			messages := readTranscript(t, path)
			seed := fnv.New64a()
			_, _ = seed.Write([]byte(filepath.Base(path)))
			random := rand.New(rand.NewPCG(seed.Sum64(), 2))
			draw := func(low, high int, _ string) int { return low + random.IntN(high-low+1) }
			w := newCheckedService(t, counts, draw)
			defer w.service.Close()
			w.scale = max(1, len(messages)/20)
			f := &neutralFollower{w: w}
			for i := range messages {
				if messages[i].GetRole() == compactordv1.Role_ROLE_TOOL && draw(0, 9, "said meanwhile") == 0 {
					w.appendAll([]*compactordv1.Message{user("How far is it?")})
					f.follow()
					counts["said while a tool ran"]++
				}
				w.appendAll(messages[i : i+1])
				f.follow()
				if draw(0, 9, "record") == 0 {
					w.anyRecord()
					f.follow()
				}
			}
		})
	}
	t.Log(describe(counts))
	if testing.Short() {
		return
	}
	for _, class := range []string{
		"compaction", "prune", "revert", "undo", "turns taken back", "pin", "unpin", "policy", "checkpoint", "clear",
		"said while a tool ran", "grown by what was appended", "kept a part of the view", "whole view anew",
	} {
		require.Positive(t, counts[class], "never came up: %s", class)
	}
}

// neutralFollower is a client that updates its view by deltas.
type neutralFollower struct {
	w     *checkedService
	held  []*compactordv1.ViewMessage
	token string
}

// follow fetches the delta, and compares the result with the whole view.
func (f *neutralFollower) follow() {
	for more := true; more; {
		answer, err := f.w.service.GetLLMView(f.w.t.Context(), &compactordv1.GetLLMViewRequest{
			Target:    &compactordv1.GetLLMViewRequest_SessionId{SessionId: checkedSession},
			ViewToken: f.token, MaxBytes: 64 << 10,
		})
		require.NoError(f.w.t, err)
		unchanged := int(answer.GetUnchangedPrefix())
		require.LessOrEqual(f.w.t, unchanged, len(f.held))
		f.count(unchanged)
		f.held = append(f.held[:unchanged:unchanged], answer.GetMessages()...)
		f.token, more = answer.GetViewToken(), answer.GetHasMore()
	}
	requireSameBytes(f.w.t, f.w.view(), f.held)
}

func (f *neutralFollower) count(unchanged int) {
	switch {
	case len(f.held) == 0:
	case unchanged == len(f.held):
		f.w.counts["grown by what was appended"]++
	case unchanged == 0:
		f.w.counts["whole view anew"]++
	default:
		f.w.counts["kept a part of the view"]++
	}
}

// A view at a point with another placement of the summary is another view.
func TestDeltaAfterAChangeOfPlacement(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	asOf := viewRequest()
	asOf.AsOf = proto.Uint32(d.append("s", user("more")).GetPoint())
	before, err := d.compactions.GetLLMView(t.Context(), asOf)
	require.NoError(t, err)
	policy := small(1000)
	policy.Summary = &compactordv1.SummaryPolicy{
		Placement: compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_SYSTEM.Enum(),
	}
	_, err = d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("policy"), Policy: policy,
	})
	require.NoError(t, err)
	asOf.ViewToken = before.GetViewToken()
	after, err := d.compactions.GetLLMView(t.Context(), asOf)
	require.NoError(t, err)
	require.Zero(t, after.GetUnchangedPrefix())
	require.Equal(t, compactordv1.Role_ROLE_SYSTEM, after.GetMessages()[1].GetMessage().GetRole())
}

// The figures of a view are those of the whole view, however small the delta is.
func TestDeltaReportsTheWholeView(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", working(5, 2000)...)
	req := viewRequest()
	whole, err := d.compactions.GetLLMView(t.Context(), req)
	require.NoError(t, err)
	req.ViewToken = whole.GetViewToken()
	delta, err := d.compactions.GetLLMView(t.Context(), req)
	require.NoError(t, err)
	require.Empty(t, delta.GetMessages())
	require.Equal(t, whole.GetViewReport().GetTokens(), delta.GetViewReport().GetTokens())
	require.Equal(t, whole.GetViewReport().GetBytes(), delta.GetViewReport().GetBytes())
}
