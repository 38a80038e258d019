package openairesponses

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// usualMessage is a message item in its easy form.
func usualMessage(role compactordv1.Role, pieces []piece, inList bool) rawjson.Object {
	return asItWas.easyMessage(role, pieces, inList)
}

func (w *writer) easyMessage(role compactordv1.Role, pieces []piece, inList bool) rawjson.Object {
	return rawjson.Object{"role": rawjson.Quote(roleNames[role]), "content": w.content(pieces, sideOf(role), inList)}
}

func guardsOfMessage(pieces []piece, s side) guards {
	return guards{"type": isMessageType, "role": never, "content": saysContent(pieces, s)}
}

// saysContent guards content that the pieces alone are not written as: one that is missing, a text of which decoding
// lost something, or a list of which an instruction holds only the texts.
func saysContent(pieces []piece, s side) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		if len(raw) > 0 && !json.Valid(raw) {
			return false
		}
		old, err := readContent(raw, s)
		if err != nil {
			return false
		}
		if s == instructionSide {
			old = textsOf(old)
		}
		if len(old) != len(pieces) {
			return false
		}
		for i := range old {
			if old[i].text == nil || pieces[i].text == nil || old[i].text.GetText() != pieces[i].text.GetText() {
				return false
			}
		}
		return true
	}
}

func textsOf(pieces []piece) []piece {
	var texts []piece
	for _, p := range pieces {
		if p.text != nil {
			texts = append(texts, p)
		}
	}
	return texts
}

func piecesOf(parts []*compactordv1.Part) []piece {
	pieces := make([]piece, len(parts))
	for i, p := range parts {
		pieces[i] = pieceOf(p)
		pieces[i].at = i
	}
	return pieces
}

// isInstructions says whether a message was the instructions of a request.
func isInstructions(m *compactordv1.Message) bool {
	_, apart := dialect.Noted(m.GetAttachments(), kind, noteInstructions)
	return apart
}

// instruction renders a SYSTEM or DEVELOPER message: as the instructions of the request if it stood there, else in place.
func (w *writer) instruction(m *compactordv1.Message) {
	if isInstructions(m) && w.at == 0 {
		w.instructions(m)
		return
	}
	pieces := textsOf(piecesOf(m.GetParts()))
	if !w.asWritten && isSilent(pieces) {
		w.repair(ruleContentNotEmpty, "An instruction without text was left out.")
		return
	}
	o := w.easyMessage(m.GetRole(), pieces, noted(m.GetAttachments(), noteContent) == inParts)
	w.restore(o, m.GetAttachments(), guardsOfMessage(pieces, instructionSide))
	it := &item{typ: typeMessage, fields: o}
	w.claim(it)
	w.emit(it.encode())
}

func isSilent(pieces []piece) bool {
	for _, p := range pieces {
		if p.text.GetText() != "" {
			return false
		}
	}
	return true
}

func (w *writer) instructions(m *compactordv1.Message) {
	var b strings.Builder
	for _, p := range m.GetParts() {
		b.WriteString(p.GetText().GetText())
	}
	text := b.String()
	o := rawjson.Object{fieldInstructions: rawjson.Quote(w.fit(text))}
	if w.asWritten {
		w.restore(o, m.GetAttachments(), guards{fieldInstructions: dialect.SaysText(text)})
	}
	if raw, unread := dialect.WasUnread(kind, m.GetAttachments()); unread && w.asWritten {
		w.out.System = []json.RawMessage{raw}
		return
	}
	if w.asWritten || text != "" {
		w.out.System = []json.RawMessage{o[fieldInstructions]}
	}
}

// user renders a USER message. Items of the client that are no message stand between the messages that its other parts
// make.
func (w *writer) user(m *compactordv1.Message) {
	attachments := m.GetAttachments()
	emitted := len(w.out.Messages)
	var run []piece
	flush := func() {
		if len(run) > 0 && w.userMessage(run, attachments) {
			// What the message had beside its content, such as its id, belongs to one item.
			attachments = nil
		}
		run = nil
	}
	for i, p := range piecesOf(m.GetParts()) {
		if p.opaque == nil || isWithin(m.GetParts()[i]) {
			run = append(run, p)
			continue
		}
		if it := w.opaqueItem(p, false); it != nil {
			flush()
			w.claim(it)
			w.emit(it.encode())
		}
	}
	flush()
	switch {
	case len(w.out.Messages) > emitted:
	case !w.asWritten:
		w.repair(ruleContentNotEmpty, "A message of the user without content was given a text.")
		w.userMessage([]piece{textPiece(dialect.EmptyUserText)}, attachments)
	case len(m.GetParts()) == 0:
		w.userMessage(nil, attachments)
	}
}

// userMessage renders a message item of the user; for a request only if it says something.
func (w *writer) userMessage(pieces []piece, attachments []*compactordv1.Attachment) bool {
	o := w.easyMessage(compactordv1.Role_ROLE_USER, pieces, noted(attachments, noteContent) == inParts)
	if !w.asWritten && isEmptyContent(o["content"]) {
		return false
	}
	w.restore(o, attachments, guardsOfMessage(pieces, userSide))
	it := &item{typ: typeMessage, fields: o}
	w.claim(it)
	w.emit(it.encode())
	return true
}

func isEmptyContent(content json.RawMessage) bool { return len(content) == len(`""`) }

func isWithin(p *compactordv1.Part) bool {
	_, within := dialect.Noted(p.GetAttachments(), kind, noteWithin)
	return within
}
