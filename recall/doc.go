// Package recall reads a log's content again, whatever views show of it. Reference and Answer read it by the place that
// a placeholder or a citation names; Query and Search find it by its words. The package knows no store: it reads
// messages through a Log.
package recall
