package views

import (
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
)

// upTo yields numbers, and says of each when it is at work on it. The last one comes with an error.
func upTo(n int, working chan<- int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			working <- i
			if i == n-1 {
				yield(i, errLast)
				return
			}
			if !yield(i, nil) {
				working <- -1
				return
			}
		}
	}
}

var errLast = errors.New("the last one")

// The sequence works on the next while the caller has one, and everything comes in its order, with its error.
func TestAheadWorksOnTheNext(t *testing.T) {
	t.Parallel()
	working := make(chan int, 1)
	want := 0
	for i, err := range ahead(upTo(4, working)) {
		require.Equal(t, want, i)
		if i == 0 {
			require.Zero(t, <-working)
		}
		if want++; want < 4 {
			require.NoError(t, err)
			require.Equal(t, want, <-working)
		} else {
			require.Equal(t, errLast, err)
		}
	}
	require.Equal(t, 4, want)
}

// Where the caller has enough, the sequence has ended when the iteration has.
func TestAheadEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	working := make(chan int, 10)
	for i, err := range ahead(upTo(10, working)) {
		require.NoError(t, err)
		if i == 2 {
			break
		}
	}
	close(working)
	var seen []int
	for i := range working {
		seen = append(seen, i)
	}
	require.Equal(t, []int{0, 1, 2, 3, -1}, seen, "it was at work on the next")
}

// A panic of the sequence is one of the caller, which the server recovers from.
func TestAheadPanicsWhereItsSequenceDoes(t *testing.T) {
	t.Parallel()
	seen := 0
	require.PanicsWithValue(t, "broken", func() {
		for _, err := range ahead(func(yield func(int, error) bool) {
			yield(1, nil)
			panic("broken")
		}) {
			require.NoError(t, err)
			seen++
		}
	})
	require.Equal(t, 1, seen)
}
