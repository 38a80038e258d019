//go:build !race

package corpus_test

const raced = false
