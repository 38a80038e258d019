package anthropic

import (
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
)

const (
	whyUnsigned = "the provider takes only thinking that it signed, in its place; a tool loop loses all or none"
	whyLast     = "nothing follows the thinking in its message"
)

// dropThinking drops what the provider would refuse: all thinking of a tool loop that has some of another provider or out
// of its place, and thinking at the end of a message.
func (r *request) dropThinking() {
	lost := make(map[int]bool)
	for i, t := range r.turns {
		for _, b := range t.rest {
			if thinks(b) && (b.foreign || b.moved) {
				lost[r.loops[b.message]] = true
			}
		}
		// Its own loop goes on behind it, so it is part of what the provider holds together.
		if b, trails := trailing(t); trails && i+1 < len(r.turns) && r.loops[r.turns[i+1].first()] == r.loops[b.message] {
			lost[r.loops[b.message]] = true
		}
	}
	live := dialect.LiveLoop(r.messages)
	for _, t := range r.turns {
		t.rest = slices.DeleteFunc(t.rest, func(b block) bool {
			if !thinks(b) || !lost[r.loops[b.message]] {
				return false
			}
			r.dropped(b.message, b.part, whyUnsigned)
			r.out.DisableThinking = r.out.DisableThinking || b.message >= live
			return true
		})
	}
	r.dropEmpty()
	// What the list ends with may still be gone on with.
	for _, t := range r.turns[:max(len(r.turns)-1, 0)] {
		for b, trails := trailing(t); trails; b, trails = trailing(t) {
			r.dropped(b.message, b.part, whyLast)
			t.rest = t.rest[:len(t.rest)-1]
		}
	}
	r.dropEmpty()
}

// trailing is the thinking that a message of the assistant ends with.
func trailing(t *turn) (block, bool) {
	n := len(t.rest)
	if n == 0 || !thinks(t.rest[n-1]) {
		return block{}, false
	}
	return t.rest[n-1], true
}
