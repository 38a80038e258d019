// Package sessionlog reads and writes the logs of sessions in a store.
//
// An operation reads a session's row, computes its changes, and commits them on the condition that the row is still the
// same (Logs.Update). The changes are a Write: messages linked to the log, records with the head after each, and the
// answer to a request that may be sent again. Between operations nothing of a session stays in memory but the session
// locks, which only save tries.
//
// Any store will do. For an inline history it is a store in memory.
package sessionlog
