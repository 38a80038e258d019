package strategies

import (
	"fmt"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// OnAppend returns the edits that policy.on_append makes of a message that is being appended. It returns at most one,
// by the first strategy that makes the message shorter. h is the head before the message, and l is the message as
// session.Link returned it. call is the call that the message answers. Without it, a read of a part of a file counts as
// a read of the whole file.
//
// Only a result that answers an open call is edited, and only if it has no media: no view has shown the media yet, and
// text cannot replace what nobody has looked at. The policy must be resolved.
func OnAppend(
	h *storagev1.Head, c session.Counter, policy *compactordv1.Policy, l *compactordv1.LoggedMessage,
	call *compactordv1.ToolCall,
) []*compactordv1.Edit {
	if l.GetResultPlace() != compactordv1.ResultPlace_RESULT_PLACE_ANSWER || hasMedia(l.GetMessage().GetParts()[0]) {
		return nil
	}
	stored := func(tokens uint32) uint32 { return session.Stored(h, tokens) }
	for _, s := range policy.GetOnAppend().GetStrategies() {
		editor, kind := onArrival(s, policy, stored)
		if editor == nil {
			continue
		}
		e := editor.edit(resultOf(l, factsOfCall(int(l.GetAnswers().GetPart()), call)))
		if e == nil {
			continue
		}
		if shown := session.TextTokens(c, e.GetReplacement()); shown < l.GetTokens() {
			return []*compactordv1.Edit{{
				Index: l.GetIndex(), Part: e.GetPart(), Kind: kind,
				Replacement: e.GetReplacement(), TokensFreed: l.GetTokens() - shown,
			}}
		}
	}
	return nil
}

// onArrival returns the editor of a strategy in policy.on_append, and its kind of edit. The editor is nil if the
// strategy does nothing when a message is appended.
func onArrival(
	s *compactordv1.Strategy, policy *compactordv1.Policy, stored func(uint32) uint32,
) (resultEditor, compactordv1.EditKind) {
	switch s.GetKind().(type) {
	case *compactordv1.Strategy_TruncateToolOutputs:
		return newTruncating(s), compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT
	case *compactordv1.Strategy_Offload:
		return newOffloading(s, policy, stored), compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT
	default:
		return nil, compactordv1.EditKind_EDIT_KIND_UNSPECIFIED
	}
}

// CheckArrival returns a PolicyError if policy.on_append or policy.on_user_message contains a strategy that cannot run
// there. on_append accepts strategies that need only one message. on_user_message accepts those that neither cut nor
// need a summarizer, with all that they nest. A custom strategy counts as one that only edits. If its plan has a cut,
// the plan is not carried out.
func CheckArrival(policy *compactordv1.Policy) error {
	for i, s := range policy.GetOnAppend().GetStrategies() {
		if editor, _ := onArrival(s, policy, func(tokens uint32) uint32 { return tokens }); editor == nil {
			return &PolicyError{
				Field: fmt.Sprintf("policy.on_append.strategies[%d]", i),
				What:  named(s) + " does not run when a message is appended; truncate_tool_outputs and offload do",
			}
		}
	}
	for i, s := range policy.GetOnUserMessage().GetStrategies() {
		if beyond := beyondEdits(s); beyond != nil {
			return &PolicyError{
				Field: fmt.Sprintf("policy.on_user_message.strategies[%d]", i),
				What:  named(beyond) + " cuts or needs a summarizer, which an append does not wait for",
			}
		}
	}
	return nil
}

// beyondEdits returns the first strategy that cuts or needs a summarizer, among s and all that it nests. It returns nil
// if there is none.
func beyondEdits(s *compactordv1.Strategy) *compactordv1.Strategy {
	for nested := range All(s) {
		if Cuts(nested) || NeedsSummarizer(nested) {
			return nested
		}
	}
	return nil
}

// named returns the name of a strategy in the contract.
func named(s *compactordv1.Strategy) string {
	switch kind := KindOf(s); kind {
	case "":
		return "a strategy of no kind"
	default:
		return kind
	}
}
