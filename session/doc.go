// Package session is the state of a log and the views drawn from it: what is active, covered by a summary, edited, pinned
// and open at a point, and what the model is to see. It is pure: no I/O, no clock, no randomness. It knows no strategy:
// what to compact is planned in strategies. How a log is read again and searched is in recall.
//
// A log is a row of messages and records that share one sequence. Its state at a point is kept in a Head, which grows
// with each of them:
//
//   - Link says how a message joins the log: what it answers, what it closes, its size in tokens (append.go, late.go).
//   - Advance takes a linked message into the head, Apply a record (records.go). Write fills in what a record changes.
//   - State is a head with the few messages that its view shows. View draws it (view.go), by the edits in force
//     (edited_message.go), with repairs (repairs.go) and without thinking that is no longer valid (thinking.go).
//   - Measure says how full the context is, Due whether it is time to compact (measure.go, usage.go, trigger.go).
//   - Tokens are counted by a Counter (estimate.go); calibration.go learns how far its counts are off.
//
// The head only caches what the log says: computed anew from the whole log it is the same. What views say in our own words
// is in session/wording.
package session
