// Package sessionlog is the logs of sessions over a store: it reads states, messages and records of them, and writes to
// them.
//
// An operation reads a session's row, computes what it writes, and commits on the condition that the row is still the
// same (Logs.Update). What it writes is a Write: messages that are linked to the log, records with the head that each
// leaves, and the answer of a request that may be sent again. Nothing of a session is kept in memory between operations
// but the locks, which only save tries.
//
// Any store will do. A history that a request sends along is a log over a store in memory.
package sessionlog
