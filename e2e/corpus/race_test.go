//go:build race

package corpus_test

// The race detector slows rendering several times, and finds no more in four dialects than in one.
const raced = true
