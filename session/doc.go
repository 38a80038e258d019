// Package session is the log as state: what is active, covered, edited, pinned and open at a point, and the views drawn
// from it. It is pure: no I/O, no clock, no randomness.
//
// A log is a row of messages and records that share one sequence. Its state at a point is kept in a Head, which grows
// with each of them:
//
//   - Link says how a message joins the log: what it answers, what it closes, its size in tokens.
//   - Advance takes a linked message into the head, Apply a record.
//   - State is a head with the few messages that its view shows; View draws it, Report says how full the context is.
//
// The head only caches what the log says: computed anew from the whole log it is the same.
package session
