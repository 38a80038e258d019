package intake

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// judgeAnswer judges the model's answer that input ends with, by the window of the session that it joins. An overflow is
// marked as an error, so that no view shows it. What comes back describes the verdict; the rest is told by describe.
func (i *Intake) judgeAnswer(in *input, row *storagev1.Session) *compactordv1.ModelAnswer {
	last := len(in.messages) - 1
	m, window := in.messages[last], row.GetResolvedPolicy().GetContextWindow()
	verdict := i.Overflow.Classify(&compactordv1.ClassifyErrorRequest{
		StopReason: m.GetStopReason(), ProviderStopReason: in.providerStop, Usage: m.GetUsage(),
		ErrorText: m.GetErrorText(),
	}, window)
	if !verdict.GetOverflow() {
		return &compactordv1.ModelAnswer{}
	}
	answer := &compactordv1.ModelAnswer{
		Overflow: true, Rule: verdict.GetRule(), Why: whyOverflow(verdict, m.GetUsage(), window),
	}
	m = proto.CloneOf(m)
	m.StopReason = compactordv1.StopReason_STOP_REASON_ERROR
	if m.GetErrorText() == "" {
		m.ErrorText = fmt.Sprintf("Context overflow by rule %s: %s", answer.GetRule(), answer.GetWhy())
	}
	in.messages[last] = m
	// A provider that had no room to answer need not have said anything.
	in.findings = slices.DeleteFunc(in.findings, func(f *compactordv1.Finding) bool {
		return f.GetRule() == dialect.InputEmptyMessage && int(f.GetMessage()) == in.positions[last]
	})
	return answer
}

// whyOverflow is the sentence of the rule that decided, with the figures that it went by.
func whyOverflow(verdict *compactordv1.ClassifyErrorResponse, u *compactordv1.Usage, window uint32) string {
	var figures []string
	tell := func(what string, tokens uint64) {
		if tokens > 0 {
			figures = append(figures, fmt.Sprintf("%s: %d tokens", what, tokens))
		}
	}
	tell("requested", uint64(verdict.GetRequestedTokens()))
	tell("limit", uint64(verdict.GetLimitTokens()))
	if len(figures) == 0 {
		tell("input and cache_read", uint64(u.GetInputTokens())+uint64(u.GetCacheReadTokens()))
		tell("context window", uint64(window))
	}
	if len(figures) == 0 {
		return verdict.GetWhy()
	}
	return fmt.Sprintf("%s (%s).", strings.TrimSuffix(verdict.GetWhy(), "."), strings.Join(figures, "; "))
}

// demandAnswer refuses input that does not end with what a model said.
func (in *input) demandAnswer() error {
	if n := len(in.messages); n == 0 || in.messages[n-1].GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		return apierror.InvalidField("model_answer", "the last message must be an ASSISTANT message")
	}
	return nil
}

// describeAnswer tells of an answer what the message of the log says.
func (i *Intake) describeAnswer(answer *compactordv1.ModelAnswer, m *compactordv1.Message, index uint32) {
	answer.Index, answer.StopReason, answer.Usage = index, m.GetStopReason(), m.GetUsage()
	size := 0
	for at, p := range m.GetParts() {
		said := saidPart(p, index, uint32(at))
		if said == nil {
			continue
		}
		if size += proto.Size(said); size > i.MaxAnswerBytes {
			answer.PartsLeftOut = true
			return
		}
		answer.Parts = append(answer.Parts, said)
	}
}

// saidPart is a text or a call as an agent acts on it; nil for all other parts.
func saidPart(p *compactordv1.Part, index, part uint32) *compactordv1.Part {
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		return &compactordv1.Part{Kind: k}
	case *compactordv1.Part_ToolCall:
		call := k.ToolCall
		if call.GetId() == "" {
			call = &compactordv1.ToolCall{
				Id: session.CallID(call, index, part), Name: call.GetName(), Arguments: call.GetArguments(),
			}
		}
		return &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: call}}
	default:
		return nil
	}
}

// rememberAppended adds a request and its response to what is to be written, without what the log says of a model's answer.
func rememberAppended(
	p *sessionlog.Write, req *compactordv1.AppendMessagesRequest, response *compactordv1.AppendMessagesResponse,
) error {
	verdict := response.GetAnswer()
	if verdict == nil {
		return p.Remember(req, response)
	}
	remembered := &compactordv1.AppendMessagesResponse{
		FirstIndex: response.GetFirstIndex(), NextIndex: response.GetNextIndex(), Point: response.GetPoint(),
		Report: response.GetReport(), Findings: response.GetFindings(),
		Answer: &compactordv1.ModelAnswer{
			Overflow: verdict.GetOverflow(), Rule: verdict.GetRule(), Why: verdict.GetWhy(),
		},
	}
	return p.Remember(req, remembered)
}

// recordedAppend finds the response of a request that was carried out before, and reads from the log what it says of a
// model's answer.
func (i *Intake) recordedAppend(
	ctx context.Context, row *storagev1.Session, req *compactordv1.AppendMessagesRequest,
	response *compactordv1.AppendMessagesResponse,
) (bool, error) {
	known, err := i.Logs.Recorded(ctx, row, req, response)
	if err != nil || !known || response.GetAnswer() == nil {
		return known, err
	}
	index := response.GetNextIndex() - 1
	l, err := i.Logs.Message(ctx, row, index)
	if err != nil {
		return false, err
	}
	i.describeAnswer(response.GetAnswer(), l.GetMessage(), index)
	return true, nil
}
