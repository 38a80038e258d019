package openaichat

// batch is a message with calls, with what the results after it leave open.
type batch struct {
	at int
	// last reports that the list ends with it and its results.
	last bool
	// part holds the position of the call with each id, and answered the ids that have a result.
	part     map[string]int
	answered map[string]bool
}

// decodedResult is a message of role tool with the id of a call.
type decodedResult struct {
	at int
	// known reports that a call of the batch before it has its id, and again that this call has a result already.
	known, again bool
}

// pairResults finds the calls of the results.
func (d *decoded) pairResults() {
	var open *batch
	for i, m := range d.messages {
		if !isTool(m) {
			open = nil
			if len(m.calls) > 0 {
				open = newBatch(i, m)
				d.batches = append(d.batches, open)
			}
			continue
		}
		id := m.object.TextOrEmpty("tool_call_id")
		if id == "" {
			continue
		}
		result := decodedResult{at: i}
		if open != nil {
			_, result.known = open.part[id]
			result.again = open.answered[id]
			open.answered[id] = result.known
		}
		d.results = append(d.results, result)
	}
	if open != nil {
		open.last = true
	}
}

func newBatch(at int, m *decodedMessage) *batch {
	b := &batch{at: at, part: make(map[string]int, len(m.calls)), answered: make(map[string]bool)}
	for j, c := range m.calls {
		id := c.object.TextOrEmpty("id")
		if _, known := b.part[id]; !known && id != "" {
			b.part[id] = j
		}
	}
	return b
}

// unanswered reports the calls without a result: those of the last batch, or of the others.
func (d *decoded) unanswered(last bool, report report) {
	for _, b := range d.batches {
		if b.last != last {
			continue
		}
		for id, part := range b.part {
			if !b.answered[id] {
				report(b.at, part, "a call has no result")
			}
		}
	}
}

func checkResultsHaveCalls(d *decoded, report report) {
	for _, r := range d.results {
		if !r.known {
			report(r.at, 0, "a result follows no message with its call")
		}
	}
}

func checkOneResultACall(d *decoded, report report) {
	for _, r := range d.results {
		if r.again {
			report(r.at, 0, "a call has a second result")
		}
	}
}
