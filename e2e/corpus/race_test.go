//go:build race

package corpus_test

// The race detector slows rendering several times, and finds no more in all views than in some.
const raced = true
