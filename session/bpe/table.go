package bpe

import "math/bits"

// table finds the ranks of tokens. It keeps no token: it compares with the list of the vocabulary. Next to a map it takes
// half the time and a third of the memory.
type table struct {
	// tokens is the list of the vocabulary, and ends are where each token ends in it, by rank.
	tokens string
	ends   []uint32
	// slots have the upper half of a token's hash, and its rank plus one; 0 is free. Their number is a power of two.
	slots []uint64
	// shift leaves of a hash the number of a slot.
	shift int
}

// newTable returns an empty table with room for n tokens of the list.
func newTable(tokens string, n int) table {
	// At least a quarter of the slots is free, so that a search for what is not there ends soon.
	width := bits.Len(uint(n + n/3))
	return table{tokens: tokens, ends: make([]uint32, 0, n), slots: make([]uint64, 1<<width), shift: 64 - width}
}

// add adds the next token of the list, which ends at end. It reports false if the token is there already.
func (t *table) add(token string, end int) bool {
	h := hash(token)
	slot, rank := t.find(token, h)
	if rank != noRank {
		return false
	}
	t.ends = append(t.ends, uint32(end))
	t.slots[slot] = h>>32<<32 | uint64(len(t.ends))
	return true
}

// rank returns the rank of a token; noRank for bytes that are not a token.
func (t *table) rank(token string) uint32 {
	_, rank := t.find(token, hash(token))
	return rank
}

// find returns the slot of a token and its rank; without the token, the free slot where it would be, and noRank.
func (t *table) find(token string, h uint64) (uint64, uint32) {
	for slot := h << 32 >> t.shift; ; slot++ {
		slot &= uint64(len(t.slots) - 1)
		entry := t.slots[slot]
		if entry == 0 {
			return slot, noRank
		}
		if entry>>32 != h>>32 {
			continue
		}
		rank := uint32(entry) - 1
		if end := int(t.ends[rank]); end >= len(token) && t.tokens[end-len(token):end] == token && t.length(rank) == len(token) {
			return slot, rank
		}
	}
}

// length returns the length of the token of a rank.
func (t *table) length(rank uint32) int {
	begin := 0
	if rank > 0 {
		begin = int(t.ends[rank-1])
	}
	// The length byte stands before the token.
	return int(t.ends[rank]) - begin - 1
}

// hash mixes all bytes of a token that is not empty.
func hash(token string) uint64 {
	n := len(token)
	var first, last uint64
	switch {
	case n >= 8:
		first, last = word(token), word(token[n-8:])
		for middle := 8; middle < n-8; middle += 8 {
			first = mix(first, word(token[middle:]))
		}
	case n >= 4:
		first, last = half(token), half(token[n-4:])
	default:
		first, last = uint64(token[0])<<16|uint64(token[n/2])<<8|uint64(token[n-1]), 0
	}
	return mix(first^uint64(n)<<56, last)
}

// mix multiplies both words with two odd numbers without a pattern, and folds the product.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xc2b2ae3d27d4eb4f)
	return high ^ low
}

func word(s string) uint64 { return half(s) | half(s[4:])<<32 }

func half(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}
