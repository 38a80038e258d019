package gemini

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// pairCalls finds the call of each result as dialect.AssignCallIDs does: with its id, of the newest message that has such an
// open call the first. Both maps lead to the same; a call without a result has none.
func pairCalls(messages []*compactordv1.Message) (byResult, byCall map[*compactordv1.Part]*renderedCall) {
	byResult, byCall = make(map[*compactordv1.Part]*renderedCall), make(map[*compactordv1.Part]*renderedCall)
	open := make(openByID)
	for at, m := range messages {
		for _, p := range m.GetParts() {
			if c := p.GetToolCall(); c != nil {
				open.add(c.GetId(), at, p)
			}
			if result := p.GetToolResult(); result != nil {
				if calling := open.close(result.GetCallId()); calling != nil {
					byResult[p] = &renderedCall{}
					byCall[calling] = byResult[p]
				}
			}
		}
	}
	return byResult, byCall
}

// openByID are the open calls of each id, by the messages that they stand in.
type openByID map[string][]callsOfMessage

type callsOfMessage struct {
	message int
	calls   []*compactordv1.Part
}

func (o openByID) add(id string, at int, p *compactordv1.Part) {
	if n := len(o[id]); n > 0 && o[id][n-1].message == at {
		o[id][n-1].calls = append(o[id][n-1].calls, p)
		return
	}
	o[id] = append(o[id], callsOfMessage{message: at, calls: []*compactordv1.Part{p}})
}

// close takes away the call that a result with an id answers; nil where there is none.
func (o openByID) close(id string) *compactordv1.Part {
	n := len(o[id])
	if n == 0 {
		return nil
	}
	newest := &o[id][n-1]
	calling := newest.calls[0]
	if newest.calls = newest.calls[1:]; len(newest.calls) == 0 {
		o[id] = o[id][:n-1]
	}
	return calling
}
