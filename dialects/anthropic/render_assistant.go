package anthropic

// renderAssistant adds a message of the model. While calls are open, nothing may come between them and their results. A
// message in that place is added to the one with the calls.
func (r *renderer) renderAssistant(i int) {
	blocks := r.renderBlocks(i)
	if len(blocks) == 0 {
		r.repair(ruleContentNotEmpty, i, "a message of the assistant without content is left out")
		return
	}
	var t *renderedMessage
	if len(r.open) == 0 || r.last(roleAssistant) != nil {
		t = r.messageFor(roleAssistant, i)
	} else {
		r.repair(ruleCallsAnswered, i, "the message is between calls and their results, and joins the calls")
		r.out.Merged++
		t = r.calling
		t.take(i, r.messages[i])
		for j := range blocks {
			blocks[j].moved = true
		}
	}
	t.rest = append(t.rest, blocks...)
	t.stop = r.messages[i].GetStopReason()
	for _, b := range blocks {
		if b.typ == typeToolUse && r.ids.PairOf(r.messages[i].GetParts()[b.part]) != nil {
			r.calling = t
			r.open[b.id] = true
		}
	}
}
