package dialecttest

import (
	"pgregory.net/rapid"

	"github.com/compactord/compactord/session/sessiontest"
)

// dice draws from 0 to n-1 with equal probability, unlike rapid's own ranges. It shrinks to 0.
func dice(t *rapid.T, n int) int { return sessiontest.Steps(t, n) - 1 }

// chance returns true with this probability in percent. It shrinks to false.
func chance(t *rapid.T, percent int) bool { return dice(t, 100) >= 100-percent }

// oneOf draws one element. It shrinks to the first.
func oneOf[T any](t *rapid.T, all []T) T { return all[dice(t, len(all))] }

// shuffled draws an order of the numbers from 0 to n-1. It shrinks to the ascending one.
func shuffled(t *rapid.T, n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := range n - 1 {
		j := i + dice(t, n-i)
		order[i], order[j] = order[j], order[i]
	}
	return order
}
