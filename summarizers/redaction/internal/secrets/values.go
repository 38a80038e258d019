package secrets

import (
	"encoding/binary"
	"slices"
	"strings"
)

// values finds the longest of some texts that another text begins with, however many there are and however alike.
type values struct {
	// sorted are the texts, and within says for each which one before it is the longest that it begins with, or -1.
	sorted []string
	within []int
	// starts says where in sorted the texts with the same first bytes stand.
	starts map[uint64][2]int
	// maybe has a bit for each of their first bytes. Most places of a text have none of them.
	maybe [maybeBits / 64]uint64
}

// maybeBits is how many bits say with what texts may begin.
const maybeBits = 1 << 12

// maybeBit returns the bit of the first bytes of a text.
func maybeBit(first uint64) uint64 { return first * 0x9E3779B97F4A7C15 >> 52 }

// newValues returns a set of texts that are not shorter than minEverywhere.
func newValues(texts []string) *values {
	v := &values{sorted: texts, within: make([]int, len(texts)), starts: make(map[uint64][2]int)}
	slices.Sort(v.sorted)
	var open []int
	for i, text := range v.sorted {
		for len(open) > 0 && !strings.HasPrefix(text, v.sorted[open[len(open)-1]]) {
			open = open[:len(open)-1]
		}
		v.within[i] = -1
		if len(open) > 0 {
			v.within[i] = open[len(open)-1]
		}
		open = append(open, i)
		key := firstBytes(text)
		v.maybe[maybeBit(key)/64] |= 1 << (maybeBit(key) % 64)
		of, known := v.starts[key]
		if !known {
			of[0] = i
		}
		v.starts[key] = [2]int{of[0], i + 1}
	}
	return v
}

func firstBytes(text string) uint64 { return binary.BigEndian.Uint64([]byte(text[:minEverywhere])) }

// at returns the place in sorted of the longest of the texts that a text begins with, or -1.
func (v *values) at(text string) int {
	first := firstBytes(text)
	if v.maybe[maybeBit(first)/64]>>(maybeBit(first)%64)&1 == 0 {
		return -1
	}
	of, known := v.starts[first]
	if !known {
		return -1
	}
	// What the text begins with does not stand behind it in the order, and between them only what is longer.
	i, found := slices.BinarySearch(v.sorted[of[0]:of[1]], text[:min(len(text), maxValue+1)])
	i += of[0]
	if !found {
		i--
	}
	for ; i >= of[0]; i = v.within[i] {
		if strings.HasPrefix(text, v.sorted[i]) {
			return i
		}
	}
	return -1
}

// maxValue is the length from which secrets are not looked for everywhere.
const maxValue = 4 << 10
