package dialect

import (
	"fmt"
	"hash/fnv"
)

// IDSet is a set of ids. It holds hashes, which are small, since a list can have very many ids. An id with the hash of
// another one counts as in the set: then it is replaced or left out, as one that is used twice. The zero value is empty.
type IDSet struct{ ids layered[struct{}] }

// Add adds an id.
func (s *IDSet) Add(id string) { s.ids.put(hash(id), struct{}{}) }

// Has reports whether an id is in the set.
func (s *IDSet) Has(id string) bool {
	_, has := s.ids.get(hash(id))
	return has
}

// Seal returns a copy that others can go on from, each with its own ids.
func (s *IDSet) Seal() IDSet { return IDSet{s.ids.seal()} }

// Size returns about how many bytes the set takes.
func (s *IDSet) Size() int { return s.ids.Size() }

func hash(id string) uint64 {
	h := fnv.New64a()
	// Writing to a hash never fails.
	_, _ = h.Write([]byte(id))
	return h.Sum64()
}

// usedIDs holds for each id in use the number of the variant to try next. All variants with smaller numbers are in use.
// Like an IDSet, it holds hashes.
type usedIDs struct{ layered[int32] }

// next returns the number of the variant of an id to try next; 0 where the id is not in use.
func (u *usedIDs) next(id uint64) int32 {
	n, _ := u.get(id)
	return n
}

// take reserves and returns the id, or its first numbered variant that is not in use.
func (u *usedIDs) take(id string, maxBytes int) string {
	candidate, own := id, hash(id)
	for n := u.next(own); u.next(hash(candidate)) > 0; n++ {
		suffix := fmt.Sprintf("_%d", n)
		candidate = cutTo(id, maxBytes-len(suffix)) + suffix
		u.put(own, n+1)
	}
	u.put(hash(candidate), 2)
	return candidate
}
