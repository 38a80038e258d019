package openairesponses

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// maxText is how many characters the provider takes in one text.
const maxText = 10_485_760

// writer renders messages, either as they were written or for a request.
type writer struct {
	asWritten bool
	messages  []*compactordv1.Message
	out       dialect.Rendered
	// at is the message that is being rendered.
	at int
	// The following are for requests alone.
	ids   *dialect.CallIDs
	pairs *pairs
	// used are the ids of items so far, usedCalls those of calls.
	used, usedCalls map[string]bool
	// lost says that the tool loop has lost reasoning of the model, whose ids the provider does not take any more.
	lost bool
	// held is reasoning at the end of what has been rendered; it is written when the model goes on.
	held []heldItem
}

// asItWas renders parts as they were written.
var asItWas = &writer{asWritten: true}

func (w *writer) drop(part int, why string) {
	w.out.Dropped = append(w.out.Dropped, dialect.Dropped{Message: w.at, Part: part, Why: why})
}

func (w *writer) repair(rule, what string) {
	w.out.Repairs = append(w.out.Repairs, dialect.Repair{Rule: rule, Message: w.at, What: what})
}

func (w *writer) emit(raw json.RawMessage) {
	w.out.Messages = append(w.out.Messages, raw)
	w.out.From = append(w.out.From, dialect.Span{First: w.at, End: w.at + 1})
}

// content renders pieces as a text where they are one, else as a list.
func (w *writer) content(pieces []piece, s side, inList bool) json.RawMessage {
	if w.asWritten {
		pieces = slices.DeleteFunc(slices.Clone(pieces), func(p piece) bool { return p.opaque != nil && !isOwn(p.opaque) })
	} else {
		pieces = w.presentable(pieces, s)
	}
	switch {
	case len(pieces) == 0:
		return rawjson.Quote("")
	case len(pieces) == 1 && isPlain(pieces[0]) && !inList:
		return rawjson.Quote(w.fit(pieces[0].text.GetText()))
	}
	elements := make([]json.RawMessage, len(pieces))
	for i, p := range pieces {
		elements[i] = w.piece(p, s)
	}
	return rawjson.EncodeArray(elements)
}

func (w *writer) piece(p piece, s side) json.RawMessage {
	switch {
	case p.text != nil:
		fitting := &compactordv1.TextPart{Text: w.fit(p.text.GetText()), Refusal: p.text.GetRefusal()}
		o := usualText(fitting, s)
		field := "text"
		if _, refuses := o["refusal"]; refuses {
			field = "refusal"
		}
		w.restore(o, p.attachments, guards{field: dialect.SaysText(p.text.GetText())})
		return o.Encode()
	case p.media != nil:
		typ := writtenType(p)
		o := usualMedia(p.media, typ, p.attachments)
		if !w.asWritten && typ == typeInputFile && p.media.GetName() == "" && p.media.GetData() != nil {
			o["filename"] = rawjson.Quote(fileName(p.media))
		}
		attachments := p.attachments
		if !w.asWritten {
			attachments = withoutSources(attachments)
		}
		w.restore(o, attachments, nil)
		return o.Encode()
	default:
		return json.RawMessage(p.opaque.GetJson())
	}
}

// presentable are the pieces that the provider takes, with a line of text in the place of media that it does not.
func (w *writer) presentable(pieces []piece, s side) []piece {
	var taken []piece
	for _, p := range pieces {
		switch {
		case p.text != nil && p.text.GetText() == "":
		case p.text != nil:
			taken = append(taken, p)
		case p.media != nil:
			taken = append(taken, w.presentableMedia(p, s))
		case isWhole(p):
			w.repair(ruleShape, "An output that was neither a text nor a list was put as text.")
			taken = append(taken, textPiece(p.opaque.GetJson()))
		case p.opaque.GetDialect() != kind:
			w.drop(p.at, "The part belongs to another provider.")
		case !canBePiece(p.opaque, s):
			w.drop(p.at, "The provider takes no such part here.")
		default:
			taken = append(taken, p)
		}
	}
	return taken
}

func (w *writer) presentableMedia(p piece, s side) piece {
	fetched := p.media
	if address := p.media.GetUri(); dialect.IsDataURL(address) {
		fetched = &compactordv1.MediaPart{Name: p.media.GetName()}
		if dialect.FillFromURL(fetched, address, p.media.GetMimeType()) != nil {
			fetched = p.media
		}
	}
	p = piece{media: fetched, attachments: p.attachments, at: p.at}
	if taken, ok := requestMedia(p, s); ok {
		p.media = taken
		return p
	}
	w.drop(p.at, "The provider takes no such file here; a line of text stands in its place.")
	return textPiece(session.MediaLine(fetched))
}

// isOwn says whether an opaque part is this dialect's, and JSON.
func isOwn(o *compactordv1.OpaquePart) bool {
	return o.GetDialect() == kind && json.Valid([]byte(o.GetJson()))
}

func isWhole(p piece) bool {
	_, ok := whole([]piece{p})
	return ok
}

// fit cuts a text to what the provider takes.
func (w *writer) fit(text string) string {
	if w.asWritten || len(text) <= maxText || utf8.RuneCountInString(text) <= maxText {
		return text
	}
	const mark = 100
	w.repair(ruleTextLength, "A text was cut to the length that the provider takes.")
	return session.Shorten(text, maxText-mark)
}
