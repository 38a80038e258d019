package openairesponses

import (
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Render writes messages as items.
func (responses) Render(messages []*compactordv1.Message, opts dialect.RenderOptions) (*dialect.Rendered, error) {
	w := &writer{asWritten: opts.AsWritten, messages: messages}
	if w.asWritten {
		w.list()
	} else {
		w.ids = dialect.AssignCallIDs(messages, dialect.CleanID, maxItemID)
		w.pairs = pair(messages, w.ids)
		w.used, w.usedCalls = make(map[string]bool), make(map[string]bool)
		w.request()
	}
	return &w.out, nil
}

// list renders messages as they were written.
func (w *writer) list() {
	for at, m := range w.messages {
		w.at = at
		if raw, unread := wasUnread(m, 0); unread && !isInstructions(m) && m.GetRole() != compactordv1.Role_ROLE_ASSISTANT {
			w.emit(raw)
			continue
		}
		w.message(m)
	}
	w.asOneText()
}

// asOneText writes the one message of the user as the text that was the whole input.
func (w *writer) asOneText() {
	if len(w.out.Messages) != 1 {
		return
	}
	m := w.messages[w.out.From[0].First]
	if _, whole := dialect.Noted(m.GetAttachments(), kind, noteInput); !whole {
		return
	}
	if o, err := rawjson.ParseObject(w.out.Messages[0]); err == nil && rawjson.KindOf(o["content"]) == rawjson.String {
		w.out.Messages[0] = o["content"]
	}
}

func (w *writer) message(m *compactordv1.Message) {
	switch m.GetRole() {
	case compactordv1.Role_ROLE_USER:
		w.user(m)
	case compactordv1.Role_ROLE_ASSISTANT:
		w.assistant(m)
	case compactordv1.Role_ROLE_TOOL:
		for _, p := range m.GetParts() {
			w.result(p)
		}
	default:
		w.instruction(m)
	}
}

// request renders messages for a request: each result directly behind the calls of its message, or of the messages that
// only go on with more calls.
func (w *writer) request() {
	var run []int
	for at, m := range w.messages {
		w.at = at
		switch m.GetRole() {
		case compactordv1.Role_ROLE_TOOL:
			w.strays(m)
		case compactordv1.Role_ROLE_ASSISTANT:
			w.assistant(m)
			if run = append(run, at); !w.callsGoOn(at + 1) {
				w.results(run)
				run = nil
			}
		default:
			w.dropHeld()
			w.lost = w.lost && m.GetRole() != compactordv1.Role_ROLE_USER
			w.message(m)
		}
	}
	w.dropHeld()
}

// callsGoOn says whether a message holds nothing but more calls of the model. Agents that append each item as it is
// written put parallel calls into messages of their own.
func (w *writer) callsGoOn(at int) bool {
	if at >= len(w.messages) || w.messages[at].GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		return false
	}
	parts := w.messages[at].GetParts()
	return len(parts) > 0 &&
		!slices.ContainsFunc(parts, func(p *compactordv1.Part) bool { return p.GetToolCall() == nil })
}

// results renders what answers the calls of messages that stand one behind the other.
func (w *writer) results(run []int) {
	next := run[len(run)-1] + 1
	for _, at := range run {
		for _, from := range w.pairs.results[at] {
			w.at = from
			if from != next {
				w.repair(ruleOutputsFollow, "A result was put directly behind the calls that it belongs to.")
			}
			next++
			for _, p := range w.messages[from].GetParts() {
				w.result(p)
			}
		}
	}
}

// strays renders results that answer no call where they stand.
func (w *writer) strays(m *compactordv1.Message) {
	if !slices.ContainsFunc(m.GetParts(), func(p *compactordv1.Part) bool { return w.pairs.calls[p] != nil }) {
		w.message(m)
	}
}
