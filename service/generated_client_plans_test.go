package service_test

import (
	"context"
	"errors"
	"slices"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// compactByClient compacts by PlanCompaction and CommitCompaction, with a client's model that writes what extractive
// writes. A fork of the session, compacted by Compact, shows the expected result.
func (w *checkedService) compactByClient(req *compactordv1.CompactRequest, before []*compactordv1.ViewMessage, meanwhile func()) {
	const twin = "twin"
	_, err := w.service.ForkSession(w.t.Context(), &compactordv1.ForkSessionRequest{SessionId: checkedSession, NewSessionId: twin})
	require.NoError(w.t, err)
	w.recorder.requests, w.fallback.requests = nil, nil
	stream := newMemoryStream(w.t.Context())
	twinReq := proto.CloneOf(req)
	twinReq.Target = &compactordv1.CompactRequest_SessionId{SessionId: twin}
	twinErr := w.service.Compact(twinReq, stream)
	want := w.viewOfSession(twin)
	_, err = w.service.DeleteSession(w.t.Context(), &compactordv1.DeleteSessionRequest{SessionId: twin})
	require.NoError(w.t, err)

	plan, err := w.service.PlanCompaction(w.t.Context(), &compactordv1.PlanCompactionRequest{
		SessionId: checkedSession, Reason: req.GetReason(), Focus: req.GetFocus(), Policy: req.GetPolicy(), Replay: req.Replay,
	})
	requireSameBytes(w.t, before, w.view())
	if err != nil || twinErr != nil {
		require.Equal(w.t, reasonOf(twinErr), reasonOf(err), "%v, and with Compact %v", err, twinErr)
		w.counts["plan held up"]++
		return
	}
	end := stream.events[len(stream.events)-1]
	if plan.GetPlanToken() == "" {
		require.Equal(w.t, end.GetSkipped().GetReason(), plan.GetPlan().GetSkipReason())
		require.Equal(w.t, end.GetSkipped().GetMessage(), plan.GetMessage())
		return
	}
	require.True(w.t, proto.Equal(stream.events[0].GetStarted().GetPlan().GetCut(), plan.GetPlan().GetCut()))
	appended := meanwhile != nil
	if appended {
		meanwhile()
		before = w.view()
	}
	answer, err := w.service.CommitCompaction(w.t.Context(), w.answering(plan))
	require.NoError(w.t, err)
	switch {
	case appended:
	case plan.GetPlan().GetCut() != nil && end.GetCompleted().GetCompaction() == nil && !w.askedForSummary():
		// Compact does not ask a model for a summary of so little, but one that a client has paid for is used.
		w.counts["commit of what Compact skipped"]++
	default:
		requireSameMessages(w.t, want, w.view())
		require.Equal(w.t, end.GetSkipped().GetReason(), answer.GetSkipped().GetReason())
	}
	if answer.GetCompleted() == nil {
		w.counts["commit skipped"]++
		requireSameBytes(w.t, before, w.view())
		return
	}
	w.counts["commit of a plan"]++
	w.completed(answer.GetCompleted(), before)
}

// askedForSummary says whether Compact asked the summarizer for a part of a summary.
func (w *checkedService) askedForSummary() bool {
	return slices.ContainsFunc(w.recorder.seen(), func(asked *summarizers.Request) bool {
		return asked.Kind != summarizers.Observation
	})
}

// answering returns a commit of a plan with extractive's texts, and sometimes with a provider's item.
func (w *checkedService) answering(plan *compactordv1.PlanCompactionResponse) *compactordv1.CommitCompactionRequest {
	req := &compactordv1.CommitCompactionRequest{SessionId: checkedSession, PlanToken: plan.GetPlanToken(), UseFallback: true}
	for _, asked := range w.recorder.seen() {
		if asked.Refusal != "" {
			continue
		}
		// A client's model knows nothing of redaction, which ends with the call that it belongs to.
		own := *asked
		own.Redact = nil
		written, err := extractive.New().Summarize(context.Background(), &own, unheard{})
		require.NoError(w.t, err)
		req.Answers = append(req.Answers, written.Text)
	}
	// Compact stops after one part of a summary cannot be written.
	for range len(kindsOf(plan)) - len(req.GetAnswers()) {
		req.Answers = append(req.Answers, "(not asked for)")
	}
	kinds := []compactordv1.Dialect{responses, anthropic, 0, 0}
	if kind := kinds[w.draw(0, len(kinds)-1, "item")]; kind != 0 && plan.GetPlan().GetCut() != nil {
		w.counts["provider's item"]++
		withBlock(kind, itemOf[kind])(req)
	}
	return req
}

// compactByOwnPlan commits a client plan with a drawn cut. The cut is refused, or the view is valid.
func (w *checkedService) compactByOwnPlan(before []*compactordv1.ViewMessage) {
	own := &compactordv1.ClientPlan{Strategy: "drawn", FirstKeptIndex: proto.Uint32(uint32(w.draw(0, 200, "anywhere")))}
	if len(before) > 0 && w.draw(0, 5, "nowhere") > 0 {
		own.FirstKeptIndex = proto.Uint32(before[w.draw(0, len(before)-1, "cut")].GetIndex())
	}
	plan, err := w.service.PlanCompaction(w.t.Context(), &compactordv1.PlanCompactionRequest{SessionId: checkedSession, ClientPlan: own})
	if err != nil {
		require.ErrorIs(w.t, err, strategies.ErrInvalidPlan)
		w.counts["plan of a client refused"]++
		return
	}
	w.recorder.requests, w.fallback.requests = nil, nil
	req := &compactordv1.CommitCompactionRequest{
		SessionId: checkedSession, PlanToken: plan.GetPlanToken(), ClientPlan: own, UseFallback: true,
	}
	for range kindsOf(plan) {
		req.Answers = append(req.Answers, "(refused)")
	}
	answer, err := w.service.CommitCompaction(w.t.Context(), req)
	require.NoError(w.t, err)
	if answer.GetCompleted() == nil {
		requireSameBytes(w.t, before, w.view())
		return
	}
	w.counts["plan of a client"]++
	cut := plan.GetPlan().GetCut().GetSummarized()
	entry := answer.GetCompleted().GetCompaction()
	for index := cut.GetStart(); index < cut.GetEnd(); index++ {
		w.received[entry.GetId()] = append(w.received[entry.GetId()], index)
	}
	require.Less(w.t, tokensOf(w.view()), tokensOf(before))
}

func (w *checkedService) viewOfSession(id string) []*compactordv1.ViewMessage {
	answer, err := w.service.GetLLMView(w.t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id}, MaxBytes: 64 << 20,
	})
	require.NoError(w.t, err)
	return answer.GetMessages()
}

// reasonOf returns the reason of an error.
func reasonOf(err error) compactordv1.ErrorReason {
	e := &apierror.Error{}
	if errors.As(err, &e) {
		return e.Reason
	}
	return compactordv1.ErrorReason_ERROR_REASON_UNSPECIFIED
}
