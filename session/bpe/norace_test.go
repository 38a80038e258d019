//go:build !race

package bpe

const Raced = false
