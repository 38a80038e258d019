package session

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// missingInGroups returns the calls without a result of the complete tool groups among messages, by the position of the
// group's last member.
func missingInGroups(messages []*compactordv1.LoggedMessage) map[int][]*compactordv1.CallRef {
	last := make(map[uint32]int)
	callers := make(map[uint32]*compactordv1.LoggedMessage)
	answered := make(map[callKey]bool)
	for i, l := range messages {
		owner := groupOf(l)
		if owner == nil {
			continue
		}
		last[*owner] = i
		if l.GetMessage().GetRole() == compactordv1.Role_ROLE_ASSISTANT {
			callers[*owner] = l
		} else {
			answered[keyOf(l.GetAnswers())] = true
		}
	}
	missing := make(map[int][]*compactordv1.CallRef)
	for owner, caller := range callers {
		if Failed(caller.GetMessage()) {
			continue
		}
		for _, call := range Calls(caller.GetMessage(), caller.GetIndex()) {
			if !answered[keyOf(call)] {
				missing[last[owner]] = append(missing[last[owner]], call)
			}
		}
	}
	return missing
}

func (b *viewBuilder) missingResult(call *compactordv1.CallRef) {
	m := missingResult(call)
	tokens := MessageTokens(b.counter, m)
	b.repair(m, tokens, compactordv1.LogRepairKind_LOG_REPAIR_KIND_MISSING_RESULT, call.GetIndex(), call.GetPart(), false)
}

// missingResult returns the result that views show for a call given up.
func missingResult(call *compactordv1.CallRef) *compactordv1.Message {
	r := &compactordv1.ToolResult{
		CallId:  call.GetId(),
		Name:    call.GetName(),
		IsError: true,
		Parts:   []*compactordv1.ResultPart{resultText(wording.MissingResult)},
	}
	return &compactordv1.Message{
		Role:  compactordv1.Role_ROLE_TOOL,
		Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: r}}},
	}
}

// strayResult quotes a stray result, with the edits in force.
func (b *viewBuilder) strayResult(l *compactordv1.LoggedMessage, outOfPlace bool) {
	e := editedMessage{counter: b.counter, logged: l, sizes: l.GetPartSizes()}
	if !Pinned(b.head, l.GetIndex()) {
		e.apply(editsOf(l, b.edits[l.GetIndex()]))
	}
	r := result(e.message())
	m := &compactordv1.Message{
		Role:  compactordv1.Role_ROLE_USER,
		Parts: []*compactordv1.Part{TextPart(wording.StrayResultHeading(r))},
	}
	for _, rp := range r.GetParts() {
		switch k := rp.GetKind().(type) {
		case *compactordv1.ResultPart_Media:
			m.Parts = append(m.Parts, &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: k.Media}})
		case *compactordv1.ResultPart_Opaque:
			// Its provider accepts it only within a result.
			m.Parts = append(m.Parts, TextPart(k.Opaque.GetJson()))
		default:
			m.Parts = append(m.Parts, TextPart(rp.GetText().GetText()))
		}
	}
	// The sizes are known from the append or the edits.
	size := uint64(b.counter.TextSize(wording.StrayResultHeading(r))) + sum(e.sizes)
	b.repair(m, b.counter.Tokens(size), compactordv1.LogRepairKind_LOG_REPAIR_KIND_STRAY_RESULT, l.GetIndex(), 0, outOfPlace)
	b.messages[len(b.messages)-1].Edits = e.kinds
}

func (b *viewBuilder) repair(
	m *compactordv1.Message, tokens uint32, kind compactordv1.LogRepairKind, index, part uint32, outOfPlace bool,
) {
	b.add(&compactordv1.ViewMessage{
		Message: m,
		Origin: &compactordv1.ViewMessage_LogRepair{
			LogRepair: &compactordv1.LogRepair{Kind: kind, Index: index, Part: part},
		},
		Tokens:     tokens,
		OutOfPlace: outOfPlace,
	})
}
