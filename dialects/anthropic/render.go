package anthropic

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxIDBytes is how long ids may be. Anthropic gives no bound, but the clouds that serve its models do.
const maxIDBytes = 64

// request renders messages for a request: first each into a turn, as the order of calls and results demands, then all
// that is wrong with the turns is set right.
type request struct {
	messages []*compactordv1.Message
	ids      *dialect.CallIDs
	// loops numbers the tool loops: a message's is the count of USER messages up to it.
	loops []int
	turns []*turn
	// system are the blocks of the system prompt.
	system []block
	out    dialect.Rendered

	// calling is the turn with the calls that are open, and open are their ids. answered are those that get a result at
	// all: in a list that the service takes, all do.
	calling  *turn
	open     map[string]bool
	answered map[string]bool
}

func writeRequest(messages []*compactordv1.Message, breakpoints []int) *dialect.Rendered {
	r := &request{
		messages: messages,
		ids:      dialect.AssignCallIDs(messages, dialect.CleanID, maxIDBytes),
		open:     make(map[string]bool),
		answered: make(map[string]bool),
	}
	users := 0
	for _, m := range messages {
		if m.GetRole() == compactordv1.Role_ROLE_USER {
			users++
		}
		r.loops = append(r.loops, users)
		if p := resultOf(m); p != nil {
			id, _ := r.ids.Of(p)
			r.answered[id] = true
		}
	}
	lead := dialect.LeadingRun(messages)
	r.lead(lead)
	for i := lead; i < len(messages); i++ {
		r.add(i)
	}
	r.setRight()
	r.openWithUser()
	r.markCache(lead, breakpoints)
	r.write()
	return &r.out
}

// setRight drops and joins until nothing is left to do: a message that has lost the use of a server tool can end with
// thinking, and what is dropped can make neighbours of a program's calls and the user's words.
func (r *request) setRight() {
	for n := -1; n != r.shape(); {
		n = r.shape()
		r.pairServerTools()
		r.dropThinking()
		r.settle()
	}
}

// shape is another number whenever turns were dropped, joined, or changed their role.
func (r *request) shape() int {
	n := len(r.turns)
	for _, t := range r.turns {
		if t.role == roleSystem {
			n++
		}
	}
	return n
}

// resultOf is the part that a TOOL message holds.
func resultOf(m *compactordv1.Message) *compactordv1.Part {
	for _, p := range m.GetParts() {
		if p.GetToolResult() != nil {
			return p
		}
	}
	return nil
}

func (r *request) repaired(rule string, message int, what string) {
	r.out.Repairs = append(r.out.Repairs, dialect.Repair{Rule: rule, Message: message, What: what})
}

func (r *request) dropped(message, part int, why string) {
	r.out.Dropped = append(r.out.Dropped, dialect.Dropped{Message: message, Part: part, Why: why})
}

// lead makes the system prompt of the messages at the start.
func (r *request) lead(n int) {
	for i, m := range r.messages[:n] {
		if noted(m.GetAttachments(), notePlace, noteMessages) {
			r.repaired(ruleSystemMessagePlace, i, "a system message that nothing stands before is part of the system prompt")
		}
		for j, p := range m.GetParts() {
			if b, ok := r.textBlock(p, i, j); ok {
				r.system = append(r.system, b)
			}
		}
		for range otherBlocks(m) {
			r.dropped(i, 0, "the system prompt holds text only")
		}
	}
}

// add puts a message into a turn.
func (r *request) add(i int) {
	switch r.messages[i].GetRole() {
	case compactordv1.Role_ROLE_ASSISTANT:
		r.addAssistant(i)
	case compactordv1.Role_ROLE_TOOL:
		r.addResult(i)
	case compactordv1.Role_ROLE_USER:
		r.addUser(i)
	default:
		r.addInstruction(i)
	}
}

// last is the last turn, if it has the role.
func (r *request) last(role string) *turn {
	if n := len(r.turns); n > 0 && r.turns[n-1].role == role {
		return r.turns[n-1]
	}
	return nil
}

// turnFor is the last turn, if it has the role and so takes the message in, or a new one.
func (r *request) turnFor(role string, message int) *turn {
	t := r.last(role)
	if t != nil {
		r.out.Merged++
		t.take(message, r.messages[message])
		return t
	}
	t = newTurn(role, message, r.messages[message])
	r.turns = append(r.turns, t)
	return t
}

// addAssistant adds what the model said. While calls are open nothing may stand between them and their results, so what
// it said then joins the calls.
func (r *request) addAssistant(i int) {
	blocks := r.blocksOf(i)
	if len(blocks) == 0 {
		r.repaired(ruleContentNotEmpty, i, "a message of the assistant without content is left out")
		return
	}
	var t *turn
	if len(r.open) == 0 || r.last(roleAssistant) != nil {
		t = r.turnFor(roleAssistant, i)
	} else {
		r.repaired(ruleResultsFollowCalls, i, "the message stands between calls and their results, and joins the calls")
		r.out.Merged++
		t = r.calling
		t.take(i, r.messages[i])
		for j := range blocks {
			blocks[j].moved = true
		}
	}
	t.rest = append(t.rest, blocks...)
	t.stop = r.messages[i].GetStopReason()
	for _, b := range blocks {
		if b.typ == typeToolUse && r.answered[b.id] {
			r.calling = t
			r.open[b.id] = true
		}
	}
}

// addResult adds a tool's result to the turn behind its call.
func (r *request) addResult(i int) {
	p := resultOf(r.messages[i])
	if p == nil {
		return
	}
	b := r.resultBlock(p, i)
	t := r.turnFor(roleUser, i)
	if len(t.rest) > 0 {
		r.repaired(ruleResultsFirst, i, "the result is put before what stands between it and its call")
	}
	t.results = append(t.results, b)
	delete(r.open, b.id)
}

func (r *request) addUser(i int) {
	blocks := r.blocksOf(i)
	if len(blocks) == 0 && len(r.open) == 0 && r.last(roleUser) == nil {
		r.repaired(ruleContentNotEmpty, i, "a message of the user without content says that it is empty")
		blocks = []block{r.made(dialect.EmptyUserText, i, 0)}
	}
	t := r.turnFor(roleUser, i)
	t.rest = append(t.rest, blocks...)
}

// made is a block of text that rendering makes.
func (r *request) made(text string, message, part int) block {
	return block{raw: usualText(text).Encode(), typ: typeText, message: message, part: part}
}

// openWithUser lets the user speak first. A summary by the provider itself may stand first, too.
func (r *request) openWithUser() {
	if len(r.turns) == 0 || r.turns[0].role != roleAssistant || r.turns[0].rest[0].typ == typeCompaction {
		return
	}
	at := r.turns[0].span.First
	opening := &turn{role: roleUser, span: dialect.Span{First: at, End: at}, rest: []block{r.made(dialect.OpeningText, at, 0)}}
	r.turns = append([]*turn{opening}, r.turns...)
	r.repaired(ruleFirstMessageUser, at, "a text of the user stands before the assistant's first message")
}

// write encodes system prompt and turns.
func (r *request) write() {
	for _, b := range r.system {
		r.out.System = append(r.out.System, r.whole(b.raw, b.message))
	}
	r.out.SystemAsText = len(r.system) == 1 &&
		noted(r.messages[r.system[0].message].GetAttachments(), noteForm, noteString)
	if r.out.SystemAsText {
		_, r.out.SystemAsText = systemText(&r.out.List)
	}
	for _, t := range r.turns {
		r.out.Messages = append(r.out.Messages, r.whole(t.encode(), t.span.First))
		r.out.From = append(r.out.From, t.span)
		for _, at := range t.extra {
			r.repaired(ruleMessageFields, at, "fields that the provider does not take are left out")
		}
	}
}

// whole replaces halves of surrogate pairs that stand alone, which the provider's parser refuses.
func (r *request) whole(raw json.RawMessage, message int) json.RawMessage {
	if rawjson.Keeps(raw) {
		return raw
	}
	r.repaired(ruleWholeCharacters, message, "halves of characters are replaced")
	return wholeCharacters(raw)
}
