package service_test

import (
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// triggered sets a policy by which compaction is due early.
func (w *checkedService) triggered() {
	policy := &compactordv1.Policy{
		Preset:        proto.String(strategies.PresetNames()[w.draw(0, len(strategies.PresetNames())-1, "preset")]),
		Trigger:       &compactordv1.Trigger{},
		Summary:       &compactordv1.SummaryPolicy{Summarizer: proto.String("recorder")},
		ContextWindow: proto.Uint32(uint32(w.draw(100, 8000, "window"))),
	}
	if w.draw(0, 9, "due twice") > 0 {
		// Here what a summary must keep is a large part of what makes compaction due.
		policy.Preset, policy.ContextWindow = proto.String("opencode"), proto.Uint32(uint32(w.draw(100, 120, "small window")))
	}
	if w.draw(0, 3, "output limit") == 0 {
		// It leaves so little of the window that some presets are due at about 100 tokens.
		policy.MaxOutputTokens = proto.Uint32(policy.GetContextWindow() - min(policy.GetContextWindow(), 150))
	}
	switch w.draw(0, 9, "trigger") {
	case 0:
		policy.Trigger.TriggerToolGroups = proto.Uint32(uint32(w.draw(1, 4, "groups")))
	case 1:
		policy.Trigger.MaxViewBytes = proto.Uint32(uint32(w.draw(100, 10_000, "bytes")))
	case 2:
		policy.ContextWindow, policy.Trigger.TriggerTokens = nil, proto.Uint32(uint32(w.draw(1, 2000, "tokens")))
	}
	_, err := w.service.UpdateSession(w.t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: checkedSession, UpdateMask: mask("policy"), Policy: policy,
	})
	require.NoError(w.t, err)
}

// obey compacts if the report says so.
func (w *checkedService) obey() {
	report := func() *compactordv1.ContextReport {
		answer, err := w.service.GetSession(w.t.Context(), &compactordv1.GetSessionRequest{SessionId: checkedSession})
		require.NoError(w.t, err)
		if len(answer.GetReport().GetBlockedBy()) > 0 {
			w.counts["blocked"]++
		}
		return answer.GetReport()
	}
	before := report()
	if !before.GetShouldCompact() {
		return
	}
	w.counts["due"]++
	req, stream := compactRequest(checkedSession, nil), newMemoryStream(w.t.Context())
	req.Reason = threshold
	w.recorder.requests = nil
	require.NoError(w.t, w.service.Compact(req, stream))
	end := stream.events[len(stream.events)-1]
	require.Nil(w.t, end.GetSkipped(), "%v", before)
	w.counts["obeyed"]++
	if entry := end.GetCompleted().GetCompaction(); entry != nil {
		w.remember(entry)
	}
	if report().GetShouldCompact() {
		w.counts["due after it"]++
	}
}
