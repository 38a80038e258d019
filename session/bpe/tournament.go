package bpe

import "slices"

// tournament finds the lowest of a fixed number of candidates, of which any can change. The nodes above the candidates
// have the lower one of the two below, so a change takes a step for each level, none of which needs to be guessed by the
// processor, as those of a heap do.
type tournament struct {
	// nodes has the root at 1, the nodes below n at 2n and 2n+1, and the candidates in its second half.
	nodes []candidate
}

// reset makes room for n candidates, which are none yet.
func (t *tournament) reset(n int) {
	size := 1
	for size < n {
		size *= 2
	}
	t.nodes = slices.Grow(t.nodes[:0], 2*size)[:2*size]
	for i := range t.nodes {
		t.nodes[i] = noCandidate
	}
}

// place sets a candidate before start.
func (t *tournament) place(at int32, c candidate) { t.nodes[len(t.nodes)/2+int(at)] = c }

// start plays all rounds.
func (t *tournament) start() {
	for i := len(t.nodes)/2 - 1; i > 0; i-- {
		t.nodes[i] = min(t.nodes[2*i], t.nodes[2*i+1])
	}
}

// set changes a candidate.
func (t *tournament) set(at int32, c candidate) {
	i := len(t.nodes)/2 + int(at)
	t.nodes[i] = c
	for i > 1 {
		i /= 2
		t.nodes[i] = min(t.nodes[2*i], t.nodes[2*i+1])
	}
}

// lowest returns the lowest candidate.
func (t *tournament) lowest() candidate { return t.nodes[1] }
