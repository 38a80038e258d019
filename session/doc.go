// Package session computes the state of a log and the views of it: which messages are active, covered by a summary,
// edited, pinned or waiting for results, and what the model sees. It does no I/O, reads no clock and uses no
// randomness. It contains no strategies: package strategies plans compactions. Package recall reads and searches a log.
//
// A log is a list of messages and records that share one sequence. Its state at a point is kept in a Head, which each
// message and record advances:
//
//   - Link works out a message's place in the log: which call it answers, which calls it closes, and its size in tokens
//     (append.go, late.go).
//   - Advance adds a linked message to the head, Apply adds a record (records.go). Write completes a record: it
//     computes what the record changes in views.
//   - State is a head with the messages that its view shows. View builds the view (view.go): it applies the edits in
//     force (edited_message.go), adds repairs (repairs.go), and leaves out thinking that is no longer valid
//     (thinking.go).
//   - Measure reports how full the context is, Due whether it is time to compact (measure.go, usage.go, trigger.go).
//   - A Counter counts tokens (estimate.go). Calibration corrects its counts (calibration.go).
//
// The head only caches what the log implies: computed again from the whole log, it is the same. The daemon's own texts
// in views are in session/wording. The SYSTEM and DEVELOPER messages at the start of a log are called its leading
// messages.
package session
