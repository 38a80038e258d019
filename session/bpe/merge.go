package bpe

import (
	"math"
	"slices"
)

// fewBytes is the length up to which looking at all pairs for the next merge is faster than a heap.
const fewBytes = 64

// maxPiece bounds the memory that a piece takes: some 20 bytes for each of its own. Prose and code have no piece of a
// hundredth of it. A longer one is cut, which can make it a few tokens more.
const maxPiece = 1 << 20

// merger makes the tokens of pieces that are no token themselves. Its memory is used again from piece to piece.
type merger struct {
	// parts are the tokens so far, each known by the position of its first byte.
	parts []part
	heap  []candidate
	// steps counts the merges that were looked at.
	steps int
}

// part is a token while the piece is being merged. A position at which none begins has an end of 0.
type part struct {
	end, previous int32
	// rank is that of this part and the next one together.
	rank uint32
}

// candidate is a merge that may be made: of the part at a position with the next one. The lowest is next, the first of
// equal ones before the others.
type candidate uint64

func merge(rank uint32, at int32) candidate { return candidate(rank)<<32 | candidate(at) }

func (c candidate) rank() uint32 { return uint32(c >> 32) }

func (c candidate) at() int32 { return int32(c & math.MaxUint32) }

// count returns the number of tokens of a piece: the pair with the lowest rank is merged until no pair is a token.
func (m *merger) count(v *Vocabulary, piece string) int {
	if len(piece) <= fewBytes {
		return m.few(v, piece)
	}
	return m.many(v, piece)
}

// few merges a short piece without a heap.
func (m *merger) few(v *Vocabulary, piece string) int {
	// starts are where the parts begin, and where the last one ends; ranks are those of each part and the next.
	var starts [fewBytes + 1]int
	var ranks [fewBytes + 1]uint32
	n := len(piece)
	for i := range n + 1 {
		starts[i], ranks[i] = i, noRank
		if i+2 <= n {
			ranks[i] = v.rank(piece[i : i+2])
		}
	}
	for n > 1 {
		best := 0
		for i := 1; i < n; i++ {
			if ranks[i] < ranks[best] {
				best = i
			}
		}
		if ranks[best] == noRank {
			break
		}
		copy(starts[best+1:n], starts[best+2:n+1])
		copy(ranks[best+1:n], ranks[best+2:n+1])
		n--
		for i := max(best-1, 0); i <= best; i++ {
			ranks[i] = noRank
			if i+2 <= n {
				ranks[i] = v.rank(piece[starts[i]:starts[i+2]])
			}
		}
	}
	return n
}

// many merges with a heap. What it holds of a merge that has become another one is passed over.
func (m *merger) many(v *Vocabulary, piece string) int {
	n := int32(len(piece))
	m.parts = slices.Grow(m.parts[:0], int(n))
	// Each merge leaves at most two new candidates, in the place of the one that it was.
	m.heap = slices.Grow(m.heap[:0], int(n))
	for i := range n {
		p := part{end: i + 1, previous: i - 1, rank: noRank}
		if i+2 <= n {
			p.rank = v.rank(piece[i : i+2])
		}
		m.parts = append(m.parts, p)
		if p.rank != noRank {
			m.heap = append(m.heap, merge(p.rank, i))
		}
	}
	m.order()
	count := int(n)
	for len(m.heap) > 0 {
		c := m.pop()
		m.steps++
		left := &m.parts[c.at()]
		if left.end == 0 || left.rank != c.rank() {
			continue
		}
		right := &m.parts[left.end]
		left.end, right.end = right.end, 0
		if left.end < n {
			m.parts[left.end].previous = c.at()
		}
		count--
		m.rate(v, piece, c.at())
		if left.previous >= 0 {
			m.rate(v, piece, left.previous)
		}
	}
	return count
}

// rate finds out what the part at a position makes with the next one.
func (m *merger) rate(v *Vocabulary, piece string, at int32) {
	p := &m.parts[at]
	p.rank = noRank
	if int(p.end) < len(piece) {
		p.rank = v.rank(piece[at:m.parts[p.end].end])
	}
	if p.rank != noRank {
		m.push(merge(p.rank, at))
	}
}

// order makes a heap of the candidates.
func (m *merger) order() {
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
}

func (m *merger) push(c candidate) {
	m.heap = append(m.heap, c)
	i := len(m.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if m.heap[parent] <= c {
			break
		}
		m.heap[i] = m.heap[parent]
		i = parent
	}
	m.heap[i] = c
}

func (m *merger) pop() candidate {
	first, last := m.heap[0], len(m.heap)-1
	m.heap[0] = m.heap[last]
	m.heap = m.heap[:last]
	if last > 0 {
		m.down(0)
	}
	return first
}

func (m *merger) down(i int) {
	c := m.heap[i]
	for {
		child := 2*i + 1
		if child >= len(m.heap) {
			break
		}
		if child+1 < len(m.heap) && m.heap[child+1] < m.heap[child] {
			child++
		}
		if c <= m.heap[child] {
			break
		}
		m.heap[i] = m.heap[child]
		i = child
	}
	m.heap[i] = c
}
