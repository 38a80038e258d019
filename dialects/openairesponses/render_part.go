package openairesponses

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// renderContent renders pieces as a string where they are one text, otherwise as a list.
func (r *renderer) renderContent(pieces []piece, s side, inList bool) json.RawMessage {
	if r.asWritten {
		pieces = slices.DeleteFunc(slices.Clone(pieces), func(p piece) bool { return p.opaque != nil && !dialect.IsOwn(kind, p.opaque) })
	} else {
		pieces = r.acceptedPieces(pieces, s)
	}
	switch {
	case len(pieces) == 0:
		return rawjson.Quote("")
	case len(pieces) == 1 && isPlain(pieces[0]) && !inList:
		return rawjson.Quote(r.cutText(pieces[0].text.GetText()))
	}
	elements := make([]json.RawMessage, len(pieces))
	for i, p := range pieces {
		elements[i] = r.renderPiece(p, s)
	}
	return r.by.Array(elements)
}

// onlyText returns the text of pieces that a request has as one string, of which nothing else was kept.
func (r *renderer) onlyText(pieces []piece, attachments []*compactordv1.Attachment) (*string, bool) {
	if r.asWritten || len(attachments) > 0 || len(pieces) != 1 || !isPlain(pieces[0]) || pieces[0].text.GetText() == "" {
		return nil, false
	}
	text := r.cutText(pieces[0].text.GetText())
	return &text, true
}

func (r *renderer) renderPiece(p piece, s side) json.RawMessage {
	switch {
	case p.text != nil:
		fitting := &compactordv1.TextPart{Text: r.cutText(p.text.GetText()), Refusal: p.text.GetRefusal()}
		o := canonicalText(fitting, s)
		field := "text"
		if _, refuses := o["refusal"]; refuses {
			field = "refusal"
		}
		r.restore(o, p.attachments, dialect.Guards{field: dialect.MatchesText(p.text.GetText())})
		return r.by.Object(o)
	case p.media != nil:
		typ := writtenType(p)
		o := canonicalMedia(p.media, typ, p.attachments)
		if !r.asWritten && typ == typeInputFile && p.media.GetName() == "" && p.media.GetData() != nil {
			o["filename"] = rawjson.Quote(fileName(p.media))
		}
		attachments := p.attachments
		if !r.asWritten {
			attachments = withoutMediaSources(attachments)
		}
		r.restore(o, attachments, nil)
		return r.by.Object(o)
	default:
		return json.RawMessage(p.opaque.GetJson())
	}
}

// acceptedPieces returns the pieces that the provider accepts. A line of text replaces other media.
func (r *renderer) acceptedPieces(pieces []piece, s side) []piece {
	var accepted []piece
	for _, p := range pieces {
		switch {
		case p.text != nil && p.text.GetText() == "":
		case p.text != nil:
			accepted = append(accepted, p)
		case p.media != nil:
			accepted = append(accepted, r.renderMedia(p, s))
		case isWhole(p):
			r.repair(ruleShape, "An output that was neither a text nor a list became text.")
			accepted = append(accepted, textPiece(p.opaque.GetJson()))
		case p.opaque.GetDialect() != kind:
			r.drop(p.at, "The part belongs to another provider.")
		case !isAcceptedOpaque(p.opaque, s):
			r.drop(p.at, "The provider does not accept such a part here.")
		default:
			accepted = append(accepted, p)
		}
	}
	return accepted
}

func isWhole(p piece) bool {
	_, ok := whole([]piece{p})
	return ok
}

// cutText cuts a text to the length that the provider accepts.
func (r *renderer) cutText(text string) string {
	if r.asWritten || len(text) <= maxTextLength || utf8.RuneCountInString(text) <= maxTextLength {
		return text
	}
	const mark = 100
	r.repair(ruleTextLength, "A text was cut to the length that the provider accepts.")
	return wording.Shorten(text, maxTextLength-mark)
}

// maxTextLength is the most characters that the provider accepts in one text.
const maxTextLength = 10_485_760

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
