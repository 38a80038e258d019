//go:build race

package service_test

// raced says that the race detector is on. It slows what compares many views several times, and finds no more in all of
// them than in some.
const raced = true
