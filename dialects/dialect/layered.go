package dialect

import (
	"maps"
	"slices"
)

// layered is a map from hashes. A copy of one that is sealed shares what it holds and can grow by itself, so that going on
// after a long list costs only what is new. The zero value is empty.
type layered[V any] struct {
	// sealed are the layers that are never changed again, each at least twice as large as the next one. A key's newest value
	// counts.
	sealed []map[uint64]V
	// top holds what was put since; nil where that is nothing.
	top map[uint64]V
}

// get returns the value of a key, and whether there is one.
func (l *layered[V]) get(key uint64) (V, bool) {
	if v, found := l.top[key]; found {
		return v, true
	}
	for _, layer := range slices.Backward(l.sealed) {
		if v, found := layer[key]; found {
			return v, true
		}
	}
	var none V
	return none, false
}

func (l *layered[V]) put(key uint64, v V) {
	if l.top == nil {
		l.top = make(map[uint64]V)
	}
	l.top[key] = v
}

// seal returns a sealed copy. Layers that are not twice as large as what comes on them become one with it, so there are at
// most as many as the number of keys has binary digits.
func (l *layered[V]) seal() layered[V] {
	if len(l.top) == 0 {
		return layered[V]{sealed: l.sealed}
	}
	top, below := l.top, l.sealed
	for n := len(below); n > 0 && len(below[n-1]) < 2*len(top); n-- {
		joined := maps.Clone(below[n-1])
		maps.Copy(joined, top)
		top, below = joined, below[:n-1]
	}
	// Clipped, since the array can be that of another copy.
	return layered[V]{sealed: append(slices.Clip(below), top)}
}

// entryBytes is about how many bytes an entry of a map of hashes takes, and layerBytes what a layer takes beside them.
const (
	entryBytes = 20
	layerBytes = 200
)

// Size returns about how many bytes it takes.
func (l *layered[V]) Size() int {
	size := len(l.top) * entryBytes
	for _, layer := range l.sealed {
		size += layerBytes + len(layer)*entryBytes
	}
	return size
}
