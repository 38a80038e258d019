package service_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// pageReader is a client that reads neutral views of any kind in pages, and takes its token from each to the next.
type pageReader struct {
	w    *checkedService
	held []*compactordv1.ViewMessage
	// token is that of the last page, whatever view that was of.
	token string
	more  bool
	// extra are the extra blocks of the last page.
	extra []*compactordv1.ContextBlock
	// thinking is what it asks for, mostly the same each time.
	thinking compactordv1.ThinkingPolicy
}

// Pages of any size, of any point and with any thinking, joined to what the client had before, are the whole view. Their
// figures are those of the whole view, and the last token is the one that the whole view comes with.
func TestPagesAreTheWholeView(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		w := newCheckedService(t, counts, func(low, high int, label string) int { return between(t, low, high, label) })
		defer w.service.Close()
		w.policy()
		readers := []*pageReader{
			{w: w},
			{w: w, thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_ALL},
			{w: w, thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_VALID},
		}
		for range between(t, 10, 60, "steps") {
			switch n := between(t, 0, 99, "step"); {
			case n < 70:
				w.message(t)
			case n < 80:
				w.pruneByAny()
			case n < 83:
				w.policy()
			default:
				w.anyRecord()
			}
			readers[between(t, 0, len(readers)-1, "reader")].read()
		}
	})
	t.Log(describe(counts))
	if !fullRun() {
		return
	}
	for _, class := range []string{
		"page of a delta", "page after another of the same view", "page after a change between pages",
		"earlier point", "other thinking", "earlier policy", "kept a part of a changed view",
		"page within extra blocks", "delta after extra blocks",
	} {
		require.GreaterOrEqual(t, counts[class], 20, "too rare to mean anything: %s", class)
	}
}

// read reads some pages, or all, and compares them with the whole view.
func (r *pageReader) read() {
	if r.w.draw(0, 19, "other options") == 0 {
		r.thinking = compactordv1.ThinkingPolicy(r.w.draw(0, 4, "thinking"))
	}
	req := &compactordv1.GetLLMViewRequest{
		Target:   &compactordv1.GetLLMViewRequest_SessionId{SessionId: checkedSession},
		Thinking: r.thinking.Enum(),
	}
	row := r.w.row()
	if !session.SameThinking(row.GetResolvedPolicy(), session.ViewOptions{Thinking: r.thinking}) {
		r.w.counts["other thinking"]++
	}
	point := row.GetPoint()
	if r.w.draw(0, 2, "earlier") == 0 {
		point = uint32(r.w.draw(0, int(point), "point"))
		req.AsOf = proto.Uint32(point)
		r.w.counts["earlier point"]++
	}
	log := r.w.log()
	if session.ChangesView(log.PolicyAt(point), row.GetResolvedPolicy()) {
		r.w.counts["earlier policy"]++
	}
	if r.more && r.w.draw(0, 2, "same extra blocks") > 0 {
		req.ExtraBlocks = r.extra
	} else {
		req.ExtraBlocks = r.w.drawExtra()
	}
	if len(sessiontest.NewModel(log, point, row.GetResolvedPolicy()).Awaited()) > 0 {
		req.ExtraBlocks = nil
	}
	whole := r.whole(req)
	model := sessiontest.NewModel(log, point, row.GetResolvedPolicy())
	want := slices.Concat(model.View(session.ViewOptions{Thinking: req.GetThinking()}).Messages, model.ExtraBlocks(req.GetExtraBlocks()))
	requireSameBytes(r.w.t, want, whole.GetMessages())
	requireOnlyAtEnd(r.w.t, whole.GetMessages(), 0, false)
	if r.more {
		r.w.counts["page after a change between pages"]++
	}
	for first := true; first || r.more && r.w.draw(0, 9, "give up") > 0; first = false {
		if !first {
			r.w.counts["page after another of the same view"]++
		}
		r.page(proto.CloneOf(req), whole)
	}
	if !r.more {
		require.Equal(r.w.t, whole.GetViewToken(), r.token)
		requireSameBytes(r.w.t, whole.GetMessages(), r.held)
	}
}

func (r *pageReader) whole(req *compactordv1.GetLLMViewRequest) *compactordv1.GetLLMViewResponse {
	req = proto.CloneOf(req)
	req.MaxBytes = 64 << 20
	whole, err := r.w.service.GetLLMView(r.w.t.Context(), req)
	require.NoError(r.w.t, err)
	require.False(r.w.t, whole.GetHasMore())
	require.Equal(r.w.t, tokensOf(whole.GetMessages()), whole.GetViewReport().GetTokens())
	require.Equal(r.w.t, bytesOf(whole.GetMessages()), int(whole.GetViewReport().GetBytes()))
	return whole
}

// page reads one page.
func (r *pageReader) page(req *compactordv1.GetLLMViewRequest, whole *compactordv1.GetLLMViewResponse) {
	req.ViewToken, req.MaxBytes = r.token, uint32(r.w.draw(1, 3000, "page"))
	answer, err := r.w.service.GetLLMView(r.w.t.Context(), req)
	require.NoError(r.w.t, err)
	unchanged := int(answer.GetUnchangedPrefix())
	require.LessOrEqual(r.w.t, unchanged, len(r.held))
	if 0 < unchanged && unchanged < len(r.held) {
		r.w.counts["kept a part of a changed view"]++
	}
	if unchanged > 0 && !r.more {
		r.w.counts["page of a delta"]++
	}
	requireOnlyAtEnd(r.w.t, r.held, unchanged, r.more)
	if slices.ContainsFunc(r.held[:unchanged], session.IsExtra) {
		r.w.counts["page within extra blocks"]++
	}
	if len(r.extra) > 0 && !r.more && unchanged > 0 {
		r.w.counts["delta after extra blocks"]++
	}
	r.held, r.extra = slices.Concat(r.held[:unchanged], answer.GetMessages()), req.GetExtraBlocks()
	require.LessOrEqual(r.w.t, len(r.held), len(whole.GetMessages()))
	requireSameBytes(r.w.t, whole.GetMessages()[:len(r.held)], r.held)
	r.token, r.more = answer.GetViewToken(), answer.GetHasMore()

	report := answer.GetViewReport()
	require.True(r.w.t, proto.Equal(whole.GetReport(), answer.GetReport()), "%v\n%v", whole.GetReport(), answer.GetReport())
	require.Equal(r.w.t, whole.GetViewReport().GetTokens(), report.GetTokens())
	require.Equal(r.w.t, whole.GetViewReport().GetBytes(), report.GetBytes())
	require.Equal(r.w.t, whole.GetViewReport().GetDisableThinking(), report.GetDisableThinking())
	for _, at := range report.GetSuggestedBreakpoints() {
		require.Contains(r.w.t, whole.GetViewReport().GetSuggestedBreakpoints(), at)
	}
	if last := uint32(len(whole.GetMessages())); last > answer.GetUnchangedPrefix() {
		if extra := uint32(len(req.GetExtraBlocks())); last-extra > answer.GetUnchangedPrefix() {
			require.Contains(r.w.t, report.GetSuggestedBreakpoints(), last-extra-1)
		}
	}
	if req.GetViewToken() == "" {
		require.Equal(r.w.t, knownOn(answer, whole), report.GetSuggestedBreakpoints())
	}
}

// knownOn returns the suggested breakpoints of a whole view that its first page knows: that before the LATEST blocks only
// where the page has them, or ends before them.
func knownOn(page, whole *compactordv1.GetLLMViewResponse) []uint32 {
	latest := slices.IndexFunc(whole.GetMessages(), func(vm *compactordv1.ViewMessage) bool {
		return vm.GetContextBlock().GetPlace() == compactordv1.BlockPlace_BLOCK_PLACE_LATEST
	})
	known := slices.Clone(whole.GetViewReport().GetSuggestedBreakpoints())
	if latest <= len(page.GetMessages()) {
		return known
	}
	leading := slices.IndexFunc(whole.GetMessages(), func(vm *compactordv1.ViewMessage) bool {
		return !session.Leads(vm.GetMessage().GetRole()) &&
			vm.GetContextBlock().GetPlace() != compactordv1.BlockPlace_BLOCK_PLACE_LEADING
	})
	return slices.DeleteFunc(known, func(at uint32) bool {
		return int(at) == latest-1 && at >= uint32(leading) && whole.GetMessages()[at].GetSummaryOf() == ""
	})
}
