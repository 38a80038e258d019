package transcript

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	compactionAtEnd = remark{
		one:  "1 compaction with nothing behind it keeps the last message",
		many: "%d compactions with nothing behind them keep the last message",
	}
	compactionOfNothing = leftOut("compaction of no messages", "compactions of no messages")
)

// records holds the records of a source back until the messages that they speak of have been read.
type records struct {
	messages uint32
	ready    []*compactordv1.ImportedRecord
	waiting  []*compactordv1.ImportedRecord
}

// add takes a record, of which after_messages is not set yet.
func (r *records) add(record *compactordv1.ImportedRecord) {
	r.waiting = append(r.waiting, record)
	r.release()
}

// count counts a message that has been read.
func (r *records) count() {
	r.messages++
	r.release()
}

// release lets those go that need no message to come, in their order.
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

// end releases what waits for messages that never come.
func (r *records) end(notes *remarks) {
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
