package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxCallID is how long OpenAI lets the id of a call be, in bytes.
const maxCallID = 40

func (chat) Render(messages []*compactordv1.Message, opts dialect.RenderOptions) (*dialect.Rendered, error) {
	out := &dialect.Rendered{}
	out.Messages = make([]json.RawMessage, 0, len(messages))
	if opts.AsWritten {
		for i, m := range messages {
			w := &writer{out: out, at: i, m: m}
			out.Messages = append(out.Messages, w.message().Encode())
			out.From = append(out.From, dialect.Span{First: i, End: i + 1})
		}
		dialect.GiveBackUnread(kind, out, messages)
		return out, nil
	}
	ids := dialect.AssignCallIDs(messages, cleanID, maxCallID)
	answers := findAnswers(messages, ids)
	write := func(i int) {
		w := &writer{out: out, at: i, m: messages[i], request: true, ids: ids, legacy: answers.legacy[i]}
		if o := w.message(); o != nil {
			out.Messages = append(out.Messages, o.Encode())
			out.From = append(out.From, dialect.Span{First: i, End: i + 1})
		}
	}
	for i := range messages {
		if answers.isAnswer[i] {
			continue
		}
		write(i)
		next := i + 1
		for _, r := range answers.of[i] {
			if r != next {
				out.Repairs = append(out.Repairs, dialect.Repair{
					Rule: ruleCallsAnswered, Message: r,
					What: "The result was moved before what stood between it and its call.",
				})
			}
			next = r + 1
			write(r)
		}
	}
	return out, nil
}

// answers says which messages hold the results of which.
type answers struct {
	// of are, for a message with calls, the positions of their results.
	of map[int][]int
	// isAnswer holds the positions of results that answer a call.
	isAnswer map[int]bool
	// legacy holds the calls of exchanges by function_call, at the positions of the call and of its result.
	legacy map[int]*compactordv1.ToolCall
}

func findAnswers(messages []*compactordv1.Message, ids *dialect.CallIDs) *answers {
	a := &answers{of: make(map[int][]int), isAnswer: make(map[int]bool), legacy: make(map[int]*compactordv1.ToolCall)}
	callers := make(map[string]int)
	for i, m := range messages {
		for _, p := range m.GetParts() {
			id, _ := ids.Of(p)
			if p.GetToolCall() != nil {
				callers[id] = i
			}
			if p.GetToolResult() == nil {
				continue
			}
			caller, open := callers[id]
			if !open {
				continue
			}
			// One result answers a call; another stays where it is.
			delete(callers, id)
			a.of[caller] = append(a.of[caller], i)
			a.isAnswer[i] = true
			if call := legacyCall(messages[caller]); call != nil && isNoted(m.GetAttachments(), noteRole, "function") {
				a.legacy[caller], a.legacy[i] = call, call
			}
		}
	}
	return a
}

// legacyCall returns the one call of a message if it was made by function_call.
func legacyCall(m *compactordv1.Message) *compactordv1.ToolCall {
	var only *compactordv1.ToolCall
	for _, p := range m.GetParts() {
		if p.GetToolCall() == nil {
			continue
		}
		if only != nil || fieldOf(p) != "function_call" {
			return nil
		}
		only = p.GetToolCall()
	}
	return only
}

// cleanID keeps what servers themselves write into ids, which is more than letters: Kimi's `functions.bash:0` must come
// back as it is.
func cleanID(id string) string {
	clean := []byte(id)
	for i, b := range clean {
		if b <= ' ' || b > '~' {
			clean[i] = '_'
		}
	}
	return string(clean)
}
