package sessiontest

import "pgregory.net/rapid"

// between returns a number from minimum to maximum, all equally likely. rapid's own ranges prefer their ends, so that
// most logs would stay small and simple. It shrinks to minimum.
func between(t *rapid.T, minimum, maximum int, label string) int {
	return minimum + int(spread(rapid.Uint64().Draw(t, label))%uint64(maximum-minimum+1))
}

// spread mixes the bits of a number, and keeps 0.
func spread(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Steps returns a number of steps, from 1 to maximum.
func Steps(t *rapid.T, maximum int) int { return between(t, 1, maximum, "steps") }

// chance is true in this percentage of cases. It shrinks to false.
func chance(t *rapid.T, percent int, label string) bool {
	return between(t, 0, 99, label) >= 100-percent
}

// oneOf returns one of several values. It shrinks to the first.
func oneOf[T any](t *rapid.T, label string, all []T) T {
	return all[between(t, 0, len(all)-1, label)]
}
