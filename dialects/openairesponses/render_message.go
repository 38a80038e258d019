package openairesponses

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

func (r *renderer) encodeMessage(role compactordv1.Role, pieces []piece, inList bool) rawjson.Object {
	return rawjson.Object{"role": rawjson.Quote(roleNames[role]), "content": r.renderContent(pieces, sideOf(role), inList)}
}

// renderInstruction renders a SYSTEM or DEVELOPER message: as the instructions of the request if it came from there,
// otherwise in its place.
func (r *renderer) renderInstruction(m *compactordv1.Message) {
	if isInstructions(m) && r.at == 0 && !r.rest {
		r.renderSystem(m)
		return
	}
	pieces := textsOf(piecesOf(m.GetParts()))
	if !r.asWritten && isSilent(pieces) {
		r.repair(ruleContentNotEmpty, "An instruction without text was left out.")
		return
	}
	o := r.encodeMessage(m.GetRole(), pieces, noted(m.GetAttachments(), noteContent) == inParts)
	r.restore(o, m.GetAttachments(), guardsOfMessage(pieces, instructionSide))
	it := &renderedItem{typ: typeMessage, fields: o}
	r.claim(it)
	r.emit(it.encode(r.by))
}

func isSilent(pieces []piece) bool {
	for _, p := range pieces {
		if p.text.GetText() != "" {
			return false
		}
	}
	return true
}

func (r *renderer) renderSystem(m *compactordv1.Message) {
	var b strings.Builder
	for _, p := range m.GetParts() {
		b.WriteString(p.GetText().GetText())
	}
	text := b.String()
	o := rawjson.Object{fieldInstructions: rawjson.Quote(r.cutText(text))}
	if r.asWritten {
		r.restore(o, m.GetAttachments(), dialect.Guards{fieldInstructions: dialect.MatchesText(text)})
	}
	if raw, unread := dialect.WasUnread(kind, m.GetAttachments()); unread && r.asWritten {
		r.out.System = []json.RawMessage{raw}
		return
	}
	if r.asWritten || text != "" {
		r.out.System = []json.RawMessage{o[fieldInstructions]}
	}
}

// renderUser renders a USER message. Its other items of the client come between the messages that its other parts
// become.
func (r *renderer) renderUser(m *compactordv1.Message) {
	attachments := m.GetAttachments()
	emitted := len(r.out.Messages)
	var run []piece
	flush := func() {
		if len(run) > 0 && r.renderUserMessage(run, attachments) {
			// The other fields of the message, such as its id, belong to one item.
			attachments = nil
		}
		run = nil
	}
	for i, p := range piecesOf(m.GetParts()) {
		if p.opaque == nil || isWithin(m.GetParts()[i]) {
			run = append(run, p)
			continue
		}
		if it := r.renderOpaque(p, false); it != nil {
			flush()
			r.claim(it)
			r.emit(it.encode(r.by))
		}
	}
	flush()
	switch {
	case len(r.out.Messages) > emitted:
	case !r.asWritten:
		r.repair(ruleContentNotEmpty, "A message of the user without content was given a text.")
		r.renderUserMessage([]piece{textPiece(wording.EmptyUser)}, attachments)
	case len(m.GetParts()) == 0:
		r.renderUserMessage(nil, attachments)
	}
}

// renderUserMessage renders a message item of the user. A request has it only if it has content.
func (r *renderer) renderUserMessage(pieces []piece, attachments []*compactordv1.Attachment) bool {
	if text, only := r.onlyText(pieces, attachments); only {
		r.emit(r.by.ObjectWithText(rawjson.Object{"role": rawjson.Quote(roleUser)}, "content", *text))
		return true
	}
	o := r.encodeMessage(compactordv1.Role_ROLE_USER, pieces, noted(attachments, noteContent) == inParts)
	if !r.asWritten && isEmptyContent(o["content"]) {
		return false
	}
	r.restore(o, attachments, guardsOfMessage(pieces, userSide))
	it := &renderedItem{typ: typeMessage, fields: o}
	r.claim(it)
	r.emit(it.encode(r.by))
	return true
}

func isEmptyContent(content json.RawMessage) bool { return len(content) == len(`""`) }
