// Package lazily computes values when they are first needed, for whichever goroutine needs them first.
package lazily

import "sync"

// Value returns a function that returns what compute returns, which is called once.
func Value[T any](compute func() T) func() T { return sync.OnceValue(compute) }
