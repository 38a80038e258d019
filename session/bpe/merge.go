package bpe

import "math"

// shortBytes is the length up to which comparing all pairs at each merge is faster than a tournament.
const shortBytes = 64

// maxPiece bounds the memory for one piece: at most about 50 bytes for each of its bytes. Pieces of prose and code are
// less than a hundredth of it. A longer piece is cut, which can add a few tokens.
const maxPiece = 1 << 20

// merger counts the tokens of pieces of one vocabulary that are not one token. It reuses its memory for each piece.
type merger struct {
	vocabulary *Vocabulary
	// pairs are the pairs of tokens that were looked up last. The same few pairs occur again and again.
	pairs [1 << 12]pair
	// ends are where the tokens of the piece end that was merged last.
	ends []int32
	// parts are the tokens so far, each at the position of its first byte.
	parts      []part
	candidates tournament
	// settled are where the tokens of the windows so far end.
	settled []int32
	// merged counts the bytes that were merged.
	merged int
}

// pair is two tokens that stand side by side, and the rank of both together.
type pair struct {
	// tokens are the ranks of both, plus one: zero is no pair.
	tokens uint64
	rank   uint32
}

// part is a token while the piece is merged: its end, where the one before it begins, and its rank.
type part struct {
	end, previous int32
	token         uint32
}

// candidate is a possible merge: of the part at a position with the next one. The lowest candidate is merged first; of
// equal ranks it is the first in the text.
type candidate uint64

// noCandidate is after all candidates.
const noCandidate = candidate(math.MaxUint64)

func merge(rank uint32, at int32) candidate { return candidate(rank)<<32 | candidate(at) }

func (c candidate) rank() uint32 { return uint32(c >> 32) }

func (c candidate) at() int32 { return int32(c & math.MaxUint32) }

// count returns the number of tokens of a piece.
func (m *merger) count(piece string) int {
	if len(piece) > shortBytes {
		return m.countWindows(piece)
	}
	m.mergeShort(piece)
	return len(m.ends)
}

// merge merges the pair with the lowest rank until no pair is a token, and leaves the ends of the tokens.
func (m *merger) merge(piece string) {
	m.merged += len(piece)
	if len(piece) <= shortBytes {
		m.mergeShort(piece)
	} else {
		m.mergeLong(piece)
	}
}

// together returns the rank of two tokens that stand side by side, of which text is both.
func (m *merger) together(left, right uint32, text string) uint32 {
	tokens := uint64(left)<<32 | uint64(right) + 1
	// The multiplication brings the bits of both tokens into the highest ones.
	known := &m.pairs[tokens*0x9e3779b97f4a7c15>>52]
	if known.tokens != tokens {
		*known = pair{tokens, m.vocabulary.rank(text)}
	}
	return known.rank
}

// mergeShort merges a piece of at most shortBytes.
func (m *merger) mergeShort(piece string) {
	// starts are the positions where the parts begin, and where the last one ends. tokens are their ranks, and ranks are
	// those of each part with the next one.
	var starts [shortBytes + 1]int32
	var tokens, ranks [shortBytes + 1]uint32
	n := len(piece)
	for i := range n {
		starts[i], tokens[i], ranks[i] = int32(i), m.vocabulary.single[piece[i]], noRank
		if i+2 <= n {
			ranks[i] = m.vocabulary.double(piece[i], piece[i+1])
		}
	}
	starts[n], ranks[n] = int32(n), noRank
	for n > 1 {
		best, lowest := 0, ranks[0]
		for i, rank := range ranks[1:n] {
			if rank < lowest {
				best, lowest = i+1, rank
			}
		}
		if lowest == noRank {
			break
		}
		tokens[best] = lowest
		copy(starts[best+1:n], starts[best+2:n+1])
		copy(tokens[best+1:n], tokens[best+2:n+1])
		copy(ranks[best+1:n], ranks[best+2:n+1])
		n--
		for i := max(best-1, 0); i <= best; i++ {
			ranks[i] = noRank
			if i+2 <= n {
				ranks[i] = m.together(tokens[i], tokens[i+1], piece[starts[i]:starts[i+2]])
			}
		}
	}
	m.ends = append(m.ends[:0], starts[1:n+1]...)
}

// mergeLong merges a piece of any length.
func (m *merger) mergeLong(piece string) {
	n := int32(len(piece))
	m.parts = m.parts[:0]
	m.candidates.reset(int(n))
	for i := range n {
		m.parts = append(m.parts, part{end: i + 1, previous: i - 1, token: m.vocabulary.single[piece[i]]})
		if i+2 <= n {
			m.candidates.place(i, merge(m.vocabulary.double(piece[i], piece[i+1]), i))
		}
	}
	m.candidates.start()
	for c := m.candidates.lowest(); c.rank() != noRank; c = m.candidates.lowest() {
		left := &m.parts[c.at()]
		right := left.end
		left.token, left.end = c.rank(), m.parts[right].end
		if left.end < n {
			m.parts[left.end].previous = c.at()
		}
		m.candidates.set(right, noCandidate)
		m.consider(piece, c.at())
		if left.previous >= 0 {
			m.consider(piece, left.previous)
		}
	}
	m.ends = m.ends[:0]
	for end := int32(0); end < n; {
		end = m.parts[end].end
		m.ends = append(m.ends, end)
	}
}

// consider sets the candidate that the part at a position is with the next one.
func (m *merger) consider(piece string, at int32) {
	left, rank := m.parts[at], noRank
	if int(left.end) < len(piece) {
		right := m.parts[left.end]
		rank = m.together(left.token, right.token, piece[at:right.end])
	}
	m.candidates.set(at, merge(rank, at))
}
