package transcript

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	compactionAtEnd = noteText{
		one:  "1 compaction with no message after it keeps the last message",
		many: "%d compactions with no message after them keep the last message",
	}
	compactionOfNothing = leftOut("compaction of no messages", "compactions of no messages")
)

// records holds the records of a source until the messages that they refer to have been read.
type records struct {
	messages uint32
	ready    []*compactordv1.ImportedRecord
	waiting  []*compactordv1.ImportedRecord
}

// add adds a record, whose after_messages is not set yet.
func (r *records) add(record *compactordv1.ImportedRecord) {
	r.waiting = append(r.waiting, record)
	r.release()
}

// count counts a message that was read.
func (r *records) count() {
	r.messages++
	r.release()
}

// release releases, in order, the records that need no later message.
func (r *records) release() {
	for len(r.waiting) > 0 {
		first := r.waiting[0]
		// A cut keeps at least one message.
		if c := first.GetCompaction(); c != nil && c.GetFirstKeptIndex() >= r.messages {
			return
		}
		first.AfterMessages = r.messages
		r.ready = append(r.ready, first)
		r.waiting = r.waiting[1:]
	}
}

// end releases the records that wait for messages that do not exist.
func (r *records) end(notes *noteCounter) {
	if r.messages == 0 {
		notes.addMany(compactionOfNothing, len(r.waiting))
		r.waiting = nil
		return
	}
	for _, record := range r.waiting {
		if c := record.GetCompaction(); c != nil && c.GetFirstKeptIndex() >= r.messages {
			c.FirstKeptIndex = r.messages - 1
			notes.add(compactionAtEnd)
		}
	}
	r.release()
}
