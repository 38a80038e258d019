// Package sessiontest holds helpers for tests of states and views: a Writer that keeps a log in memory as a service
// does, a Model that computes from the whole log what a state must be, and a Generator of realistic and difficult logs.
//
// The Model decides what is right. It has no index and no head, keeps nothing from one point to the next, and follows
// the rules, not the code. It is slow on purpose.
package sessiontest
