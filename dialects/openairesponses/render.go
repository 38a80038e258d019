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

// request renders messages for a request: each result directly behind the calls of its message.
func (w *writer) request() {
	for at, m := range w.messages {
		w.at = at
		switch m.GetRole() {
		case compactordv1.Role_ROLE_TOOL:
			w.strays(m)
		case compactordv1.Role_ROLE_ASSISTANT:
			w.assistant(m)
			w.results(at)
		default:
			w.dropHeld()
			w.lost = w.lost && m.GetRole() != compactordv1.Role_ROLE_USER
			w.message(m)
		}
	}
	w.dropHeld()
}

// results renders what answers the calls of a message.
func (w *writer) results(at int) {
	for i, from := range w.pairs.results[at] {
		w.at = from
		if from != at+1+i {
			w.repair(ruleOutputsFollow, "A result was put directly behind the calls that it belongs to.")
		}
		for _, p := range w.messages[from].GetParts() {
			w.result(p)
		}
	}
}

// strays renders results that answer no call where they stand.
func (w *writer) strays(m *compactordv1.Message) {
	if !slices.ContainsFunc(m.GetParts(), func(p *compactordv1.Part) bool { return w.pairs.calls[p] != nil }) {
		w.message(m)
	}
}
