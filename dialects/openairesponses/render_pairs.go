package openairesponses

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// pairs holds the positions of the results of calls, and how calls were rendered.
type pairs struct {
	// resultsOf holds the positions of the results, in order, by the position of the message with their calls.
	resultsOf map[int][]int
	// kinds are the kinds that the calls so far were rendered as.
	kinds map[*compactordv1.Part]*callKind
}

func pairCalls(messages []*compactordv1.Message, ids *dialect.CallIDs) *pairs {
	p := &pairs{resultsOf: make(map[int][]int), kinds: make(map[*compactordv1.Part]*callKind)}
	for at, m := range messages {
		for _, part := range m.GetParts() {
			if pair := ids.PairOf(part); pair != nil && part == pair.Result {
				p.resultsOf[pair.CallAt] = append(p.resultsOf[pair.CallAt], at)
			}
		}
	}
	return p
}

// settledParts returns the opaque calls and outputs in a message that belong together: those of tools that the provider
// ran itself.
func (r *renderer) settledParts(m *compactordv1.Message) map[*compactordv1.Part]bool {
	settled := make(map[*compactordv1.Part]bool)
	open := make(map[string]*compactordv1.Part)
	answering := false
	for _, p := range m.GetParts() {
		if p.GetToolCall() != nil {
			// Its own output follows after the message, and no other items may come between them.
			return settled
		}
		id, isOutput := settledCallID(p)
		if isOutput && open[id] != nil {
			settled[open[id]], settled[p] = true, true
			delete(open, id)
			r.usedCalls.Add(id)
			answering = true
			continue
		}
		if answering {
			clear(open)
			answering = false
		}
		if id != "" && !isOutput && len(id) <= maxItemID && !r.usedCalls.Has(id) {
			open[id] = p
		}
	}
	return settled
}

// settledCallID returns the id that an opaque call and its output share. Empty where the part is neither, or lacks what
// its type needs.
func settledCallID(p *compactordv1.Part) (id string, isOutput bool) {
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
		return callIDIn(o, typ), false
	}
	if k := kindOfOutput(typ); k != nil && !k.isText && k.form.isWellFormed(o) {
		return callIDIn(o, typ), true
	}
	return "", false
}
