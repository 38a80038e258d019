package session

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// repairPinnedGroup adds the missing results of a group where messages[i] is its last member.
func (d *viewBuilder) repairPinnedGroup(messages []*compactordv1.LoggedMessage, i int) {
	owner := groupOf(messages[i])
	if owner == nil {
		return
	}
	answered := make(map[uint32]bool)
	var caller *compactordv1.LoggedMessage
	for j, l := range messages {
		g := groupOf(l)
		if g == nil || *g != *owner {
			continue
		}
		if j > i {
			return
		}
		if l.GetMessage().GetRole() == compactordv1.Role_ROLE_ASSISTANT {
			caller = l
		} else {
			answered[l.GetAnswers().GetPart()] = true
		}
	}
	if caller == nil || Failed(caller.GetMessage()) {
		return
	}
	for _, call := range Calls(caller.GetMessage(), caller.GetIndex()) {
		if !answered[call.GetPart()] {
			d.missingResult(call)
		}
	}
}

func (d *viewBuilder) missingResult(call *compactordv1.CallRef) {
	m := missingResult(call)
	tokens := MessageTokens(d.counter, m)
	d.repair(m, tokens, compactordv1.LogRepairKind_LOG_REPAIR_KIND_MISSING_RESULT, call.GetIndex(), call.GetPart(), false)
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
func (d *viewBuilder) strayResult(l *compactordv1.LoggedMessage, outOfPlace bool) {
	e := editedMessage{counter: d.counter, logged: l, sizes: l.GetPartSizes()}
	if !Pinned(d.head, l.GetIndex()) {
		e.apply(editsOf(l, d.edits))
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
	size := uint64(d.counter.TextSize(wording.StrayResultHeading(r))) + sum(e.sizes)
	d.repair(m, d.counter.Tokens(size), compactordv1.LogRepairKind_LOG_REPAIR_KIND_STRAY_RESULT, l.GetIndex(), 0, outOfPlace)
	d.messages[len(d.messages)-1].Edits = e.kinds
}

func (d *viewBuilder) repair(
	m *compactordv1.Message, tokens uint32, kind compactordv1.LogRepairKind, index, part uint32, outOfPlace bool,
) {
	d.add(&compactordv1.ViewMessage{
		Message: m,
		Origin: &compactordv1.ViewMessage_LogRepair{
			LogRepair: &compactordv1.LogRepair{Kind: kind, Index: index, Part: part},
		},
		Tokens:     tokens,
		OutOfPlace: outOfPlace,
	})
}
