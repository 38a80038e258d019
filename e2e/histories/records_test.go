package histories_test

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// checkRecords finds the records of each call in the log, and a call for each record.
func (c *checker) checkRecords(id string) {
	records := make(map[uint32]*compactordv1.Record)
	for _, r := range c.left[id].records {
		records[r.GetSequence()] = r
	}
	// The session's own beginning.
	delete(records, 0)
	for _, call := range c.calls {
		if call.session == id && call.outcome == answered {
			for _, want := range recordsOf(call.answer) {
				c.claim(call, records, want)
			}
		}
	}
	c.checkOperations(id, records)
	c.checkUnanswered(id, records)
}

// recordsOf returns the records that an answer names.
func recordsOf(answer proto.Message) []*compactordv1.Record {
	switch a := answer.(type) {
	case interface{ GetRecord() *compactordv1.Record }:
		if a.GetRecord() != nil {
			return []*compactordv1.Record{a.GetRecord()}
		}
	case *compactordv1.CreateCheckpointResponse:
		return []*compactordv1.Record{{Sequence: a.GetPoint(), Kind: &compactordv1.Record_Checkpoint{Checkpoint: a.GetCheckpoint()}}}
	case *compactordv1.PruneResponse:
		if a.GetPrune() != nil {
			return []*compactordv1.Record{pruneRecord(a.GetPrune())}
		}
	case *compactordv1.CompactionEvent:
		var list []*compactordv1.Record
		if p := a.GetCompleted().GetPrune(); p != nil {
			list = append(list, pruneRecord(p))
		}
		if e := a.GetCompleted().GetCompaction(); e != nil {
			list = append(list, &compactordv1.Record{Sequence: e.GetSequence(), Kind: &compactordv1.Record_Compaction{Compaction: e}})
		}
		return list
	}
	return nil
}

func pruneRecord(p *compactordv1.PruneEntry) *compactordv1.Record {
	return &compactordv1.Record{Sequence: p.GetSequence(), Kind: &compactordv1.Record_Prune{Prune: p}}
}

// claim finds a record that was acknowledged. Two calls never share one.
func (c *checker) claim(call *call, records map[uint32]*compactordv1.Record, want *compactordv1.Record) {
	got := records[want.GetSequence()]
	delete(records, want.GetSequence())
	switch {
	case got == nil:
		c.report("session %s: the record of %T at sequence %d was acknowledged, and is not there, or is another call's",
			call.session, call.request, want.GetSequence())
		return
	case !proto.Equal(withoutPlace(got), withoutPlace(want)):
		c.report("session %s: the record at sequence %d is not that of %T\n%v\n%v", call.session, want.GetSequence(), call.request, got, want)
	}
	c.widen(call, want.GetSequence())
}

// widen notes that a call wrote at a sequence.
func (c *checker) widen(call *call, sequence uint32) {
	s, found := c.spans[call]
	if !found {
		s = span{sequence, sequence}
	}
	c.spans[call] = span{min(s.first, sequence), max(s.last, sequence)}
}

// withoutPlace returns what a record says itself.
func withoutPlace(r *compactordv1.Record) *compactordv1.Record {
	return &compactordv1.Record{Sequence: r.GetSequence(), Kind: r.GetKind()}
}

// checkOperations finds the one end of each compaction that said that it has started.
func (c *checker) checkOperations(id string, records map[uint32]*compactordv1.Record) {
	changes, attempts := make(map[string]int), make(map[string]int)
	for _, r := range c.left[id].records {
		if r.GetAttempt() != nil {
			attempts[operationOf(r)]++
		} else if operation := operationOf(r); operation != "" {
			changes[operation]++
		}
	}
	for operation, n := range attempts {
		if n > 1 || changes[operation] > 0 {
			c.report("session %s: compaction %s has %d attempts and %d entries", id, operation, n, changes[operation])
		}
	}
	for _, call := range c.calls {
		if call.session != id {
			continue
		}
		for operation := range call.operations {
			if attempts[operation]+changes[operation] == 0 {
				c.report("session %s: compaction %s started, and has no end", id, operation)
			}
			c.claimOperation(call, records, operation)
		}
	}
}

// claimOperation takes the records of an operation that were not acknowledged.
func (c *checker) claimOperation(call *call, records map[uint32]*compactordv1.Record, operation string) {
	for sequence, r := range records {
		if operationOf(r) != operation {
			continue
		}
		delete(records, sequence)
		if r.GetAttempt() != nil {
			continue
		}
		c.widen(call, sequence)
		if call.outcome != unknown {
			c.report("session %s: compaction %s is there though it said otherwise", call.session, operation)
		}
	}
}

// operationOf returns the id of the operation that wrote a record; empty where it was none.
func operationOf(r *compactordv1.Record) string {
	switch {
	case r.GetAttempt() != nil:
		return r.GetAttempt().GetProvenance().GetOperationId()
	case r.GetCompaction() != nil:
		return r.GetCompaction().GetProvenance().GetOperationId()
	default:
		return r.GetPrune().GetProvenance().GetOperationId()
	}
}

// checkUnanswered finds an unanswered call for each record that nobody has acknowledged.
func (c *checker) checkUnanswered(id string, records map[uint32]*compactordv1.Record) {
	open := make(map[string][]*call)
	attempts := 0
	for _, call := range c.calls {
		if call.session != id {
			continue
		}
		if _, compacts := call.request.(*compactordv1.CompactRequest); compacts {
			// Each time that it was sent, it may have begun.
			attempts += call.cut
		}
		if what := contentOf(call.request); call.outcome == unknown && what != "" {
			open[what] = append(open[what], call)
		}
	}
	found := make(map[string][]uint32)
	operations := make(map[string]bool)
	for sequence, r := range records {
		operation := operationOf(r)
		switch {
		case operation != "" && operations[operation]:
			continue
		case r.GetAttempt() != nil:
			attempts--
		default:
			what := contentOfRecord(r)
			found[what] = append(found[what], sequence)
		}
		operations[operation] = true
	}
	if attempts < 0 {
		c.report("session %s: %d compactions more were cut off than calls", id, -attempts)
	}
	for what, sequences := range found {
		if len(sequences) > len(open[what]) {
			c.report("session %s: nobody asked for the records at %v: %s", id, sequences, what)
		}
		if len(open[what]) == 1 {
			c.widen(open[what][0], sequences[0])
		}
	}
}

// contentOf returns what a record of a request has; empty where it writes none.
func contentOf(request proto.Message) string {
	switch r := request.(type) {
	case *compactordv1.CreateCheckpointRequest:
		return "checkpoint " + r.GetTitle()
	case *compactordv1.RevertToCheckpointRequest:
		return fmt.Sprint("revert to ", r.GetPoint())
	case *compactordv1.PinMessagesRequest:
		return fmt.Sprint("pin ", r.GetIndexes())
	case *compactordv1.UnpinMessagesRequest:
		return fmt.Sprint("unpin ", r.GetIndexes())
	case *compactordv1.CompactRequest, *compactordv1.PruneRequest:
		return "shorten"
	default:
		return ""
	}
}

func contentOfRecord(r *compactordv1.Record) string {
	switch k := r.GetKind().(type) {
	case *compactordv1.Record_Checkpoint:
		return "checkpoint " + k.Checkpoint.GetTitle()
	case *compactordv1.Record_Revert:
		return fmt.Sprint("revert to ", k.Revert.GetPoint())
	case *compactordv1.Record_Pin:
		return fmt.Sprint("pin ", k.Pin.GetIndexes())
	case *compactordv1.Record_Unpin:
		return fmt.Sprint("unpin ", k.Unpin.GetIndexes())
	case *compactordv1.Record_Compaction, *compactordv1.Record_Prune:
		return "shorten"
	default:
		return "of another kind"
	}
}
