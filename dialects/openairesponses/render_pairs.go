package openairesponses

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// pairs are the calls of a list with the results that answer them.
type pairs struct {
	calls map[*compactordv1.Part]*compactordv1.Part
	// results are those of calls, by the message of the calls, in their order; each is the position of its message.
	results map[int][]int
	answers map[*compactordv1.Part]*compactordv1.Part
	// kinds are how the calls so far were rendered.
	kinds map[*compactordv1.Part]*callKind
}

// pair finds the calls that results answer by the ids that both were given.
func pair(messages []*compactordv1.Message, ids *dialect.CallIDs) *pairs {
	p := &pairs{
		calls:   make(map[*compactordv1.Part]*compactordv1.Part),
		results: make(map[int][]int),
		answers: make(map[*compactordv1.Part]*compactordv1.Part),
		kinds:   make(map[*compactordv1.Part]*callKind),
	}
	type place struct {
		message int
		call    *compactordv1.Part
	}
	open := make(map[string]place)
	for at, m := range messages {
		for _, part := range m.GetParts() {
			id, _ := ids.Of(part)
			if part.GetToolCall() != nil {
				open[id] = place{at, part}
			}
			answered, found := open[id]
			if part.GetToolResult() == nil || !found {
				continue
			}
			delete(open, id)
			p.calls[part], p.answers[answered.call] = answered.call, part
			p.results[answered.message] = append(p.results[answered.message], at)
		}
	}
	return p
}

// kindFor decides how a call is rendered: as what it was, if it and its answer still have what that demands, else as a
// function call.
func (w *writer) kindFor(p *compactordv1.Part) *callKind {
	k := kindOfCall(noted(p.GetAttachments(), noteKind))
	if k == nil {
		k = functionCalls
	}
	if w.asWritten {
		return k
	}
	if !k.open && (!w.isComplete(k, p) || !w.isAnswered(k, p)) {
		w.repair(ruleShape, "A call of a tool of the provider, or its answer, was changed and became one of a function.")
		k = functionCalls
	}
	w.pairs.kinds[p] = k
	return k
}

func (w *writer) isComplete(k *callKind, p *compactordv1.Part) bool {
	arguments := []byte(p.GetToolCall().GetArguments())
	if k.isText {
		id, changed := w.ids.Of(p)
		return !changed && isItemID(id, k.call) && !w.used[id]
	}
	if !json.Valid(arguments) {
		return false
	}
	if k.complete == nil {
		return true
	}
	input, err := objectOf(arguments)
	return err == nil && k.complete(input)
}

func (w *writer) isAnswered(k *callKind, p *compactordv1.Part) bool {
	answer := w.pairs.answers[p]
	if answer == nil {
		return true
	}
	_, ok := k.answer.write(&writer{}, k.pieces(answer.GetToolResult()), isInParts(answer))
	return ok
}

func isInParts(p *compactordv1.Part) bool { return noted(p.GetAttachments(), noteContent) == inParts }

// settledParts finds, in what the model said, the calls that are answered there and then: those of tools that the
// provider runs itself.
func (w *writer) settledParts(m *compactordv1.Message) map[*compactordv1.Part]bool {
	settled := make(map[*compactordv1.Part]bool)
	open := make(map[string]*compactordv1.Part)
	answering := false
	for _, p := range m.GetParts() {
		if p.GetToolCall() != nil {
			// Its own answer follows behind the message, and must not be parted from it by other items.
			return settled
		}
		id, isOutput := settledID(p)
		if isOutput && open[id] != nil {
			settled[open[id]], settled[p] = true, true
			delete(open, id)
			w.usedCalls[id] = true
			answering = true
			continue
		}
		if answering {
			clear(open)
			answering = false
		}
		if id != "" && !isOutput && len(id) <= maxItemID && !w.usedCalls[id] {
			open[id] = p
		}
	}
	return settled
}

// settledID returns the id by which an opaque part is a call or answers one, if it has what its type demands.
func settledID(p *compactordv1.Part) (id string, isOutput bool) {
	if p.GetOpaque() == nil {
		return "", false
	}
	o, err := objectOf(json.RawMessage(p.GetOpaque().GetJson()))
	if err != nil || p.GetOpaque().GetDialect() != kind {
		return "", false
	}
	typ, err := o.Text("type")
	if err != nil {
		return "", false
	}
	if k := kindOfCall(typ); k != nil && !k.isText && (k.complete == nil || k.complete(inputOf(o, k))) {
		return linkOf(o, typ), false
	}
	if k := kindOfOutput(typ); k != nil && !k.isText && k.answer.isWellFormed(o) {
		return linkOf(o, typ), true
	}
	return "", false
}

func inputOf(o rawjson.Object, k *callKind) rawjson.Object {
	input, err := o.Sub(k.inputs[0])
	if err != nil {
		return nil
	}
	return input
}
