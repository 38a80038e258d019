package dialect

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// CallIDs gives every call of a list an id that the provider accepts and that no other call has. It gives every result
// the id of its call. A call's id depends only on what is before it in the list, so ids stay the same as the list
// grows.
type CallIDs struct {
	parts map[*compactordv1.Part]assigned
	// used are the ids of the calls, with those of the part of the list before.
	used usedIDs
}

// assigned is the id of a call or a result, and its pair.
type assigned struct {
	id      string
	changed bool
	pair    *Pair
}

// Pair is a call with its result.
type Pair struct {
	Call, Result *compactordv1.Part
	// CallAt and ResultAt are the positions of their messages.
	CallAt, ResultAt int
}

// AssignCallIDs assigns the ids of a list in which each result follows its call. clean turns any id into one that the
// provider accepts, and maxBytes is the longest id that the provider accepts. Ids that are clean and unique do not
// change. Of the options, it needs what says which part of a list the messages are.
func AssignCallIDs(
	messages []*compactordv1.Message, opts RenderOptions, clean func(string) string, maxBytes int,
) *CallIDs {
	c := &CallIDs{parts: make(map[*compactordv1.Part]assigned), used: opts.usedBefore()}
	// The calls without a result so far, by their id in the log.
	open := make(map[string][]openCall)
	for at, m := range messages {
		for i, p := range m.GetParts() {
			switch {
			case p.GetToolCall() != nil:
				id := p.GetToolCall().GetId()
				given := c.used.take(c.wanted(id, opts.first()+at, i, clean, maxBytes), maxBytes)
				c.parts[p] = assigned{id: given, changed: given != id}
				open[id] = append(open[id], openCall{message: at, part: p, given: given})
			case p.GetToolResult() != nil:
				id := p.GetToolResult().GetCallId()
				result := assigned{id: id}
				if answered := nearest(open[id]); answered >= 0 {
					call := open[id][answered]
					open[id] = slices.Delete(open[id], answered, answered+1)
					result.id, result.changed = call.given, call.given != id
					result.pair = &Pair{Call: call.part, Result: p, CallAt: call.message, ResultAt: at}
					c.parts[call.part] = assigned{id: call.given, changed: result.changed, pair: result.pair}
				}
				c.parts[p] = result
			}
		}
	}
	return c
}

type openCall struct {
	message int
	part    *compactordv1.Part
	given   string
}

// nearest finds the call that a result answers: the first open one in the newest message that has any. It returns -1
// where there is none.
func nearest(open []openCall) int {
	found := len(open) - 1
	for found > 0 && open[found-1].message == open[found].message {
		found--
	}
	return found
}

// wanted returns a call's own id where the provider accepts it. Otherwise the id is made from the call's id or, without
// one, from its position.
func (c *CallIDs) wanted(id string, message, part int, clean func(string) string, maxBytes int) string {
	id = clean(id)
	if id == "" {
		id = fmt.Sprintf("call_%d_%d", message, part)
	}
	return cutTo(id, maxBytes)
}

// cutTo shortens an id without splitting a character.
func cutTo(id string, maxBytes int) string {
	if len(id) <= maxBytes {
		return id
	}
	for maxBytes > 0 && !utf8.RuneStart(id[maxBytes]) {
		maxBytes--
	}
	return id[:maxBytes]
}

// Of returns the id of a call, or of the call that a result answers, and whether it differs from the id in the log.
func (c *CallIDs) Of(p *compactordv1.Part) (id string, changed bool) {
	of := c.parts[p]
	return of.id, of.changed
}

// PairOf returns the pair of a call or a result. It returns nil where a call has no result, or a result no call.
func (c *CallIDs) PairOf(p *compactordv1.Part) *Pair { return c.parts[p].pair }

// CleanID replaces each character that is no ASCII letter, digit, underscore or hyphen by an underscore.
func CleanID(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		default:
			return '_'
		}
	}, id)
}
