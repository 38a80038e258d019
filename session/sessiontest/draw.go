package sessiontest

import "pgregory.net/rapid"

// between draws evenly from min to max; rapid's own ranges lean to their ends, so that most logs would stay small and
// tame. It shrinks to min.
func between(t *rapid.T, minimum, maximum int, label string) int {
	return minimum + int(spread(rapid.Uint64().Draw(t, label))%uint64(maximum-minimum+1))
}

// spread mixes the bits of a number, and leaves 0 as it is.
func spread(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Steps draws how many steps to make, up to a maximum.
func Steps(t *rapid.T, maximum int) int { return between(t, 1, maximum, "steps") }

// chance says yes in so many of a hundred cases. It shrinks to no.
func chance(t *rapid.T, percent int, label string) bool {
	return between(t, 0, 99, label) >= 100-percent
}

// oneOf draws one of several. It shrinks to the first.
func oneOf[T any](t *rapid.T, label string, all []T) T {
	return all[between(t, 0, len(all)-1, label)]
}
