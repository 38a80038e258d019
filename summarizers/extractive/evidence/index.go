package evidence

import "hash/maphash"

// index finds texts by their numbers. It holds hashes and numbers only, and asks its owner for the texts: a map of
// strings takes several times the memory, and more time to grow.
type index struct {
	seed maphash.Seed
	// slots are at least half empty, and as many as a power of two. used counts the others.
	slots []slot
	used  int
	// textOf returns the text with a number.
	textOf func(number int32) string
}

// slot is empty if its hash is 0.
type slot struct {
	hash   uint32
	number int32
}

// leastSlots is how many slots an index begins with.
const leastSlots = 256

func newIndex(textOf func(number int32) string) index {
	return index{seed: maphash.MakeSeed(), slots: make([]slot, leastSlots), textOf: textOf}
}

// hash returns the hash of a text, which is not 0.
func (x *index) hash(text string) uint32 { return uint32(maphash.String(x.seed, text)) | 1<<31 }

// find returns the number of a text.
func (x *index) find(text string) (number int32, ok bool) { return x.findBy(x.hash(text), text) }

func (x *index) findBy(hash uint32, text string) (number int32, ok bool) {
	last := uint32(len(x.slots) - 1)
	for i := hash & last; x.slots[i].hash != 0; i = (i + 1) & last {
		if s := x.slots[i]; s.hash == hash && x.textOf(s.number) == text {
			return s.number, true
		}
	}
	return 0, false
}

// add gives a number to the hash of a text that has none yet.
func (x *index) add(hash uint32, number int32) {
	if x.used++; 2*x.used > len(x.slots) {
		before := x.slots
		x.slots = make([]slot, 2*len(before))
		for _, s := range before {
			if s.hash != 0 {
				x.put(s)
			}
		}
	}
	x.put(slot{hash, number})
}

// put fills the first empty slot for a hash.
func (x *index) put(s slot) {
	last := uint32(len(x.slots) - 1)
	i := s.hash & last
	for x.slots[i].hash != 0 {
		i = (i + 1) & last
	}
	x.slots[i] = s
}

// clear forgets all numbers.
func (x *index) clear() { x.slots, x.used = make([]slot, leastSlots), 0 }
