package openaichat

// batch is a message with calls, while the results after it are read.
type batch struct {
	// at is the position of the message, or -1 where no batch is open.
	at int
	// part holds the position of the call with each id, and answered the ids that have a result.
	part     map[string]int
	answered map[string]bool
}

// eachResult visits the results after a message with calls, and then each batch of calls. last reports that the list
// ends there.
func eachResult(
	d *decoded,
	result func(message int, b *batch, id string),
	over func(b *batch, last bool),
) {
	open := &batch{at: -1}
	for i, m := range d.messages {
		if isTool(m) {
			if id := m.object.TextOrEmpty("tool_call_id"); id != "" {
				result(i, open, id)
				if _, known := open.part[id]; known {
					open.answered[id] = true
				}
			}
			continue
		}
		over(open, false)
		open = &batch{at: -1}
		if len(m.calls) > 0 {
			open = newBatch(i, m)
		}
	}
	over(open, true)
}

func newBatch(at int, m *decodedMessage) *batch {
	b := &batch{at: at, part: make(map[string]int), answered: make(map[string]bool)}
	for j, c := range m.calls {
		id := c.object.TextOrEmpty("id")
		if _, known := b.part[id]; !known && id != "" {
			b.part[id] = j
		}
	}
	return b
}

// unanswered reports the calls of a batch that have no result.
func (b *batch) unanswered(report report) {
	for id, part := range b.part {
		if !b.answered[id] {
			report(b.at, part, "a call has no result")
		}
	}
}

func ignoreResult(int, *batch, string) {}

func checkResultsHaveCalls(d *decoded, report report) {
	eachResult(d, func(message int, b *batch, id string) {
		if _, known := b.part[id]; !known {
			report(message, 0, "a result follows no message with its call")
		}
	}, func(*batch, bool) {})
}

func checkOneResultACall(d *decoded, report report) {
	eachResult(d, func(message int, b *batch, id string) {
		if b.answered[id] {
			report(message, 0, "a call has a second result")
		}
	}, func(*batch, bool) {})
}
