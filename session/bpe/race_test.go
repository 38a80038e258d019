//go:build race

package bpe

// Raced says that the race detector is on. It slows counting many times over, and finds no more in all texts than in some.
const Raced = true
