package views

import "iter"

// ahead yields what a sequence yields, and lets the sequence work on the next while the caller works on the last. It runs the
// sequence in a goroutine, which has ended when the iteration ends. What the sequence panics with, the iteration does.
func ahead[T any](seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	type item struct {
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		items, enough, ended := make(chan item), make(chan struct{}), make(chan struct{})
		var panicked any
		go func() {
			defer close(ended)
			defer close(items)
			defer func() { panicked = recover() }()
			for value, err := range seq {
				select {
				case items <- item{value, err}:
				case <-enough:
					return
				}
			}
		}()
		defer func() {
			close(enough)
			<-ended
		}()
		for it := range items {
			if !yield(it.value, it.err) {
				return
			}
		}
		if panicked != nil {
			panic(panicked)
		}
	}
}
