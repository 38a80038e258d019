// Package recall reads a log's content again, whatever views show of it: by its place, which a placeholder or a citation
// names (Reference, Answer), and by what it says (Query, Search). It knows no store: a Log gives it the messages.
package recall
