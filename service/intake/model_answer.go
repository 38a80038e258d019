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

// classifyAnswer classifies the last message as a model's answer, by the context window of the session's policy. An
// overflow gets stop reason ERROR, so that no view shows it. The returned answer has only the classification;
// describeAnswer adds the rest.
func (i *Intake) classifyAnswer(in *input, row *storagev1.Session) *compactordv1.ModelAnswer {
	last := len(in.messages) - 1
	m, window := in.messages[last], row.GetResolvedPolicy().GetContextWindow()
	class := i.Overflow.Classify(&compactordv1.ClassifyErrorRequest{
		StopReason: m.GetStopReason(), ProviderStopReason: in.providerStop, Usage: m.GetUsage(),
		ErrorText: m.GetErrorText(),
	}, window)
	if !class.GetOverflow() {
		return &compactordv1.ModelAnswer{}
	}
	answer := &compactordv1.ModelAnswer{
		Overflow: true, Rule: class.GetRule(), Why: whyOverflow(class, m.GetUsage(), window),
	}
	m = proto.CloneOf(m)
	m.StopReason = compactordv1.StopReason_STOP_REASON_ERROR
	if m.GetErrorText() == "" {
		m.ErrorText = fmt.Sprintf("Context overflow by rule %s: %s", answer.GetRule(), answer.GetWhy())
	}
	in.messages[last] = m
	// An answer that is an overflow may be empty.
	in.findings = slices.DeleteFunc(in.findings, func(f *compactordv1.Finding) bool {
		return f.GetRule() == dialect.InputEmptyMessage && int(f.GetMessage()) == in.positions[last]
	})
	return answer
}

// whyOverflow returns the sentence of the rule that decided, with its figures.
func whyOverflow(class *compactordv1.ClassifyErrorResponse, u *compactordv1.Usage, window uint32) string {
	var figures []string
	add := func(what string, tokens uint64) {
		if tokens > 0 {
			figures = append(figures, fmt.Sprintf("%s: %d tokens", what, tokens))
		}
	}
	add("requested", uint64(class.GetRequestedTokens()))
	add("limit", uint64(class.GetLimitTokens()))
	if len(figures) == 0 {
		add("input and cache_read", uint64(u.GetInputTokens())+uint64(u.GetCacheReadTokens()))
		add("context window", uint64(window))
	}
	if len(figures) == 0 {
		return class.GetWhy()
	}
	return fmt.Sprintf("%s (%s).", strings.TrimSuffix(class.GetWhy(), "."), strings.Join(figures, "; "))
}

// requireAnswer refuses input whose last message is not a model's.
func (in *input) requireAnswer() error {
	if n := len(in.messages); n == 0 || in.messages[n-1].GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		return apierror.InvalidField("model_answer", "the last message must be an ASSISTANT message")
	}
	return nil
}

// describeAnswer fills answer with what the logged message says.
func (i *Intake) describeAnswer(answer *compactordv1.ModelAnswer, m *compactordv1.Message, index uint32) {
	answer.Index, answer.StopReason, answer.Usage = index, m.GetStopReason(), m.GetUsage()
	size := 0
	for at, p := range m.GetParts() {
		said := answerPart(p, index, uint32(at))
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

// answerPart returns a text or a tool call as an agent needs it; nil for other parts.
func answerPart(p *compactordv1.Part, index, part uint32) *compactordv1.Part {
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

// rememberAppended stores a request with its response. Of a model's answer it stores only the classification, since the
// rest is in the log.
func rememberAppended(
	w *sessionlog.Write, req *compactordv1.AppendMessagesRequest, response *compactordv1.AppendMessagesResponse,
) error {
	class := response.GetAnswer()
	if class == nil {
		return w.Remember(req, response)
	}
	remembered := &compactordv1.AppendMessagesResponse{
		FirstIndex: response.GetFirstIndex(), NextIndex: response.GetNextIndex(), Point: response.GetPoint(),
		Report: response.GetReport(), Findings: response.GetFindings(),
		Answer: &compactordv1.ModelAnswer{
			Overflow: class.GetOverflow(), Rule: class.GetRule(), Why: class.GetWhy(),
		},
	}
	return w.Remember(req, remembered)
}

// recordedAppend fills the response of a request that was carried out before, and reads the rest of a model's answer
// from the log.
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
