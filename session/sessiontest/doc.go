// Package sessiontest holds what tests of states and views need: a Writer that keeps a log in memory as a service does,
// a Model that works out from the whole log what a state must be, and a Generator of realistic and nasty logs.
//
// The Model is the measure: it has no index and no head, remembers nothing from one point to the next, and is written
// from the rules, not from the code. It is slow, and meant to be.
package sessiontest
