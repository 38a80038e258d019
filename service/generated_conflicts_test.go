package service_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"pgregory.net/rapid"
)

// held is an element that the session holds, with the number of the sync that brought it.
type held struct {
	element listElement
	since   int
}

// process is one of several that sync lists of their own with one session.
type process struct {
	c    *syncing
	list []listElement
	// last is the number of its newest sync.
	last int
}

// rivals are two processes with one session, and the naive model of what that holds.
type rivals struct {
	t         *rapid.T
	d         *daemon
	s         *speaker
	processes [2]*process
	held      []held
	syncs     int
	// reverted is the number of the newest sync that put something aside.
	reverted int
	counts   map[string]int
}

// extend adds a turn that nobody else says.
func (r *rivals) extend(p *process) {
	n := r.s.number()
	p.list = append(slices.Clone(p.list), r.s.user(fmt.Sprint("request ", n)))
	if rapid.Bool().Draw(r.t, "uses") {
		p.list = append(p.list, r.s.use(fmt.Sprint("call-", n), fmt.Sprint("file ", n), fmt.Sprint("result ", n))...)
	}
	p.list = append(p.list, r.s.answer(fmt.Sprint("answer ", n)))
}

func (r *rivals) change(p *process) {
	if len(p.list) > 0 && rapid.IntRange(0, 2).Draw(r.t, "drops") == 0 {
		p.list = slices.Clone(p.list[:rapid.IntRange(0, len(p.list)-1).Draw(r.t, "left")])
		p.c.known = min(p.c.known, len(p.list))
	}
	r.extend(p)
}

// common returns how many elements the list of a process begins with that the session holds.
func (r *rivals) common(p *process) int {
	n := 0
	for n < min(len(p.list), len(r.held)) && p.list[n] == r.held[n].element {
		n++
	}
	return n
}

// lacks reports whether a process would put aside what it has never seen, or write after what it does not know to be put
// aside.
func (r *rivals) lacks(p *process) bool {
	n := r.common(p)
	same := n == len(p.list) && n == len(r.held)
	return r.reverted > p.last && !same ||
		slices.ContainsFunc(r.held[n:], func(h held) bool { return h.since > p.last })
}

func (r *rivals) took(p *process) {
	r.syncs++
	n := r.common(p)
	if n < len(r.held) {
		r.reverted = r.syncs
	}
	r.held = slices.Clone(r.held[:n])
	for _, e := range p.list[n:] {
		r.held = append(r.held, held{e, r.syncs})
	}
	p.last = r.syncs
}

// catchUp has a process take what the session holds, as it must after a conflict, and say its turn after that.
func (r *rivals) catchUp(p *process) {
	p.list = nil
	for _, h := range r.held {
		p.list = append(p.list, h.element)
	}
	point := r.d.session("s").GetSession().GetPoint()
	p.c.known, p.c.lead, p.c.point = 0, 0, &point
	r.extend(p)
	answer := p.c.sync(p.list)
	require.Nil(r.t, answer.GetRevert(), "what the other one said stays")
	r.took(p)
}

func (r *rivals) sync(p *process) {
	conflict, point := r.lacks(p), r.d.session("s").GetSession().GetPoint()
	if !conflict {
		p.c.sync(p.list)
		r.took(p)
		return
	}
	_, err := p.c.try(p.list)
	requireReason(r.d.t, err, codes.Aborted, "SYNC_CONFLICT")
	require.Equal(r.t, point, r.d.session("s").GetSession().GetPoint(), "nothing was written")
	r.counts["conflict"]++
	r.catchUp(p)
}

// race has both say something new at the same time: one of them is told that it came too late.
func (r *rivals) race() {
	for _, p := range r.processes {
		r.catchUp(p)
	}
	first := r.processes[0]
	first.list = slices.Clone(r.processes[1].list)
	first.c.known = 0
	first.c.sync(first.list)
	r.took(first)
	var errs [2]error
	var done sync.WaitGroup
	for i, p := range r.processes {
		r.extend(p)
		done.Go(func() { _, errs[i] = p.c.try(p.list) })
	}
	done.Wait()
	late := slices.IndexFunc(errs[:], func(err error) bool { return err != nil })
	require.GreaterOrEqual(r.t, late, 0, "both wrote")
	requireReason(r.d.t, errs[late], codes.Aborted, "SYNC_CONFLICT")
	require.NoError(r.t, errs[1-late])
	winner := r.processes[1-late]
	winner.c.sync(winner.list)
	r.took(winner)
	r.counts["race"]++
}

// Two processes that sync lists of their own with one session mix nothing: who lacks what the other one has said is told so,
// nothing is written then, and the log always holds the list of the one that was taken.
func TestGeneratedConflictsOfSyncs(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom(listDialects).Draw(rt, "dialect")
		d := start(t)
		defer d.stop()
		d.create("s", nil)
		r := &rivals{t: rt, d: d, s: &speaker{kind: kind}, counts: counts}
		for i := range r.processes {
			r.processes[i] = &process{c: &syncing{t: rt, d: d, id: "s", kind: kind}}
			r.catchUp(r.processes[i])
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			if rapid.IntRange(0, 4).Draw(rt, "race") == 0 {
				r.race()
			} else {
				p := r.processes[rapid.IntRange(0, 1).Draw(rt, "process")]
				r.change(p)
				r.sync(p)
			}
			var want []listElement
			for _, h := range r.held {
				want = append(want, h.element)
			}
			require.Equal(rt, spokenIn(d, kind, want), spoken(d.active("s")))
		}
	})
	require.NotZero(t, counts["conflict"])
	require.NotZero(t, counts["race"])
	t.Log(counts)
}
