package anthropic

import (
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	whyUnsigned = "the provider takes only thinking that it signed, where it signed it"
	whyLoop     = "the tool loop began with thinking that the provider does not take, so it loses all"
	whyLast     = "nothing follows the thinking in its message"
)

// dropThinking drops the thinking that the provider would refuse: another provider's, thinking in a message that was
// moved, and thinking at the end of a message. For the provider a tool loop is one turn, with or without thinking. So a
// loop that loses its first thinking loses all of it. A loop that began with the provider's own thinking keeps it. With
// adaptive thinking, a loop may begin without any, so that nothing follows from what it loses.
func (r *renderer) dropThinking() {
	for _, t := range r.rendered {
		for n := len(t.rest); n > 0 && isThinking(t.rest[n-1]); n-- {
			t.rest[n-1].trailing = true
		}
	}
	// The first loop goes on from the part of the list before.
	began, lost := map[int]bool{0: r.before.loop.began}, map[int]bool{0: r.before.loop.lost}
	live := dialect.RunningToolLoop(r.messages)
	r.out.DisableThinking = r.out.DisableThinking || r.rest && live == 0 && r.before.loop.lost
	for i, t := range r.rendered {
		last := i+1 == len(r.rendered)
		t.rest = slices.DeleteFunc(t.rest, func(b renderedBlock) bool {
			loop := r.loops[b.message]
			switch {
			case !isThinking(b):
				return false
			case lost[loop]:
				r.drop(b.message, b.part, whyLoop)
			case b.foreign, b.moved:
				r.drop(b.message, b.part, whyUnsigned)
			case b.trailing:
				r.drop(b.message, b.part, whyLast)
			default:
				began[loop] = true
				return false
			}
			// The model can still continue the last message of the list.
			unfinished := last && b.trailing && !b.foreign
			if !r.adaptive && !began[loop] && !unfinished {
				lost[loop] = true
				r.out.DisableThinking = r.out.DisableThinking || b.message >= live
			}
			return true
		})
	}
	if n := len(r.loops); n > 0 {
		loop := r.loops[n-1]
		r.after.loop.began = r.after.loop.began || began[loop]
		r.after.loop.lost = r.after.loop.lost || lost[loop]
	}
	r.dropEmpty()
}

func isThinking(b renderedBlock) bool { return b.typ == typeThinking || b.typ == typeRedactedThinking }

func (r *renderer) renderThinking(p *compactordv1.Part, i, j int) renderedBlock {
	o := restored(canonicalBlock(p), p)
	typ, proof := typeThinking, "signature"
	if p.GetThinking().GetRedacted() {
		typ, proof = typeRedactedThinking, "data"
	}
	signature, err := o.Text(proof)
	return renderedBlock{raw: r.by.Object(o), typ: typ, message: i, part: j, foreign: err != nil || signature == ""}
}
