package views

import (
	"hash/maphash"
	"iter"
	"slices"

	"github.com/compactord/compactord/session"
)

// trail is what a daemon remembers of a rendered list, so that the next one is drawn, rendered and checked from the last
// place on before which nothing has changed. It is not changed once it is made.
type trail struct {
	// point is the point of the view.
	point uint32
	// last is the last stretch; nil where the list is empty.
	last *step
	// withoutLead reports that the end of the leading messages has no breakpoint.
	withoutLead bool
}

// step is what is remembered of a stretch of a list. Later lists share the steps before the place that they go on from.
type step struct {
	// before is the step before; nil for the first one.
	before *step
	// from says where the stretch begins.
	from restart
	// digests are those of the rendered messages, as they are without extra blocks.
	digests []digest
	// bytes is how many bytes the stretch has as neutral messages, and bytesSoFar how many it has with all before.
	bytes, bytesSoFar int
	// sum is what the list has up to the end of the stretch, without its messages.
	sum *renderedList
	// size is about how many bytes the step takes, with all before.
	size int
}

// minStepBytes is from how many bytes of neutral messages on a step does not become one with the next, by default.
const minStepBytes = 16 << 10

// What is remembered takes about so many bytes.
const (
	bytesOfStep    = 512
	bytesOfDigest  = 16
	bytesOfFinding = 200
	bytesOfEntry   = 8
)

// first returns the position in the list of the step's first message; 0 where the step is nil.
func (s *step) first() int {
	if s == nil || s.from.before == nil {
		return 0
	}
	return s.from.before.Before.Messages
}

// passed returns how many bytes of neutral messages come before the step.
func (s *step) passed() int { return s.bytesSoFar - s.bytes }

// followedBy returns the step of a stretch that comes after this one, or after the beginning where this one is nil. Where
// this step has fewer than least bytes and the stretch is not the last one, they become one: a list is gone on from at its
// last stretch.
func (s *step) followedBy(next *stretch, sum *renderedList, least int) *step {
	n := &step{before: s, from: next.from, digests: digestsOf(next.lasts), bytes: next.bytes, bytesSoFar: next.bytes, sum: sum}
	if s != nil {
		n.bytesSoFar += s.bytesSoFar
	}
	if s != nil && s.bytes < least && next.After != nil {
		n.before, n.from, n.bytes = s.before, s.from, s.bytes+next.bytes
		n.digests = slices.Concat(s.digests, n.digests)
	}
	n.size = n.ownSize()
	if n.before != nil {
		n.size += n.before.size
	}
	return n
}

// ownSize returns about how many bytes the step takes without those before. It shares their findings.
func (s *step) ownSize() int {
	findings := s.sum.findings()
	size := bytesOfStep + bytesOfDigest*len(s.digests) + bytesOfFinding*findings + heldBy(s.sum.system)
	if s.before != nil {
		size -= (bytesOfFinding - bytesOfEntry) * min(s.before.sum.findings(), findings)
	}
	if s.from.before != nil {
		size += s.from.before.Size()
	}
	return size
}

// findings returns how many entries the report of a list has.
func (l *renderedList) findings() int {
	return len(l.report.GetPartsDropped()) + len(l.report.GetRepairs()) + len(l.report.GetThinkingDropped())
}

// restartFor returns the last step that begins within what the client has, at a place before what has changed. It is nil
// where there is none but the beginning.
func (t *trail) restartFor(held int, changedFrom uint32) *step {
	s := t.last
	for s != nil && (s.first() > held || s.from.at.Index >= changedFrom) {
		s = s.before
	}
	if s == nil || s.before == nil {
		return nil
	}
	return s
}

// from returns the digests of the list from a step on; from the beginning on where that is nil.
func (t *trail) from(first *step) iter.Seq2[digest, error] {
	var steps []*step
	for s := t.last; s != nil; s = s.before {
		steps = append(steps, s)
		if s == first {
			break
		}
	}
	return func(yield func(digest, error) bool) {
		for _, s := range slices.Backward(steps) {
			for _, d := range s.digests {
				if !yield(d, nil) {
					return
				}
			}
		}
	}
}

// digest stands for a rendered message, within one process.
type digest [2]uint64

// seeds are drawn anew by each process, so nobody can look for two messages with one digest.
var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func digestOf(raw []byte) digest {
	return digest{maphash.Bytes(seeds[0], raw), maphash.Bytes(seeds[1], raw)}
}

func digestsOf[T ~[]byte](messages []T) []digest {
	digests := make([]digest, len(messages))
	for i, raw := range messages {
		digests[i] = digestOf(raw)
	}
	return digests
}

// restartAt returns the step to go on from with the rendering of the view for a client with the view of a token; nil
// where the view is rendered from the beginning.
func (r *Request) restartAt(t *trail, held session.ViewToken, relation session.Delta) *step {
	changedFrom := r.Head.GetNextIndex()
	switch {
	case t == nil || t.withoutLead != withoutLead(r.Head):
		return nil
	case relation == session.DeltaAppended:
	case relation == session.DeltaChanged && r.marksApply(held):
		if changedFrom = changedSince(r.Head, held); changedFrom < session.KeptFrom(r.Head) {
			return nil
		}
	default:
		return nil
	}
	return t.restartFor(int(held.Messages), changedFrom)
}
