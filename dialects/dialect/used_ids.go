package dialect

import (
	"fmt"
	"hash/fnv"
)

// IDSet is a set of ids. It holds hashes, which are small, since a list can have very many ids. An id with the hash of
// another one counts as in the set: then it is replaced or left out, as one that is used twice.
type IDSet map[uint64]bool

// Add adds an id.
func (s IDSet) Add(id string) { s[hash(id)] = true }

// Has reports whether an id is in the set.
func (s IDSet) Has(id string) bool { return s[hash(id)] }

// Size returns about how many bytes the set takes.
func (s IDSet) Size() int { return len(s) * entryBytes }

// entryBytes is about how many bytes an entry of a map of hashes takes.
const entryBytes = 20

func hash(id string) uint64 {
	h := fnv.New64a()
	// Writing to a hash never fails.
	_, _ = h.Write([]byte(id))
	return h.Sum64()
}

// usedIDs holds for each id in use the number of the variant to try next. All variants with smaller numbers are in use.
// Like an IDSet, it holds hashes.
type usedIDs map[uint64]int32

// take reserves and returns the id, or its first numbered variant that is not in use.
func (u usedIDs) take(id string, maxBytes int) string {
	candidate, own := id, hash(id)
	for n := u[own]; u[hash(candidate)] > 0; n++ {
		suffix := fmt.Sprintf("_%d", n)
		candidate = cutTo(id, maxBytes-len(suffix)) + suffix
		u[own] = n + 1
	}
	u[hash(candidate)] = 2
	return candidate
}
