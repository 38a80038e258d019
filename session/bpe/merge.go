package bpe

import (
	"math"
	"slices"
)

// shortBytes is the length up to which comparing all pairs is faster than a heap.
const shortBytes = 64

// maxPiece bounds the memory for one piece: about 20 bytes for each of its bytes. Pieces of prose and code are less
// than a hundredth of it. A longer piece is cut, which can add a few tokens.
const maxPiece = 1 << 20

// merger counts the tokens of pieces that are not one token. It reuses its memory for each piece.
type merger struct {
	// parts are the tokens so far, each at the position of its first byte.
	parts []part
	heap  []candidate
	// steps counts the candidates looked at.
	steps int
}

// part is a token while the piece is merged. Its end is 0 at a position where no token begins.
type part struct {
	end, previous int32
	// rank is the rank of this part and the next one together.
	rank uint32
}

// candidate is a possible merge: of the part at a position with the next one. The lowest candidate is merged first; of
// equal ranks it is the first in the text.
type candidate uint64

func merge(rank uint32, at int32) candidate { return candidate(rank)<<32 | candidate(at) }

func (c candidate) rank() uint32 { return uint32(c >> 32) }

func (c candidate) at() int32 { return int32(c & math.MaxUint32) }

// count returns the number of tokens of a piece. It merges the pair with the lowest rank until no pair is a token.
func (m *merger) count(v *Vocabulary, piece string) int {
	if len(piece) <= shortBytes {
		return m.countShort(v, piece)
	}
	return m.countLong(v, piece)
}

// countShort merges a short piece without a heap.
func (m *merger) countShort(v *Vocabulary, piece string) int {
	// starts are the positions where the parts begin, and where the last one ends. ranks are those of each part with
	// the next one.
	var starts [shortBytes + 1]int
	var ranks [shortBytes + 1]uint32
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

// countLong merges with a heap. A candidate in the heap whose parts have changed since is skipped.
func (m *merger) countLong(v *Vocabulary, piece string) int {
	n := int32(len(piece))
	m.parts = slices.Grow(m.parts[:0], int(n))
	// Each merge adds at most two candidates and removes one.
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
		m.updateRank(v, piece, c.at())
		if left.previous >= 0 {
			m.updateRank(v, piece, left.previous)
		}
	}
	return count
}

// updateRank computes the rank of the part at a position with the next one, and adds it as a candidate.
func (m *merger) updateRank(v *Vocabulary, piece string, at int32) {
	p := &m.parts[at]
	p.rank = noRank
	if int(p.end) < len(piece) {
		p.rank = v.rank(piece[at:m.parts[p.end].end])
	}
	if p.rank != noRank {
		m.push(merge(p.rank, at))
	}
}

// order turns the candidates into a heap.
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
