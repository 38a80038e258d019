package openairesponses

import (
	"encoding/json"
	"fmt"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	// typeWhole is the type of an opaque piece that is a whole output of unknown form.
	typeWhole = "output"
	stdout    = "stdout"
	stderr    = "stderr"
)

// resultForm says how the output of a kind of call holds the result.
type resultForm struct {
	// field holds the result. It is left out where it is optional and there is no result.
	field    string
	optional bool
	// flag is the field that reports a failure by one of two values. It is empty where there is none.
	flag, done, failed string
	// parts splits the field into pieces. It returns false where the field does not have this form. It is nil for texts
	// and lists of pieces.
	parts func(value json.RawMessage) ([]piece, bool, error)
	// render joins the pieces again. It returns false where they do not have this form.
	render func(w *renderer, pieces []piece, inList bool) (json.RawMessage, bool)
}

// parse parses the field with the result, in any form.
func (f *resultForm) parse(value json.RawMessage) ([]piece, error) {
	if f.parts != nil {
		pieces, ok, err := f.parts(value)
		if ok || err != nil {
			return pieces, err
		}
		return parseWhole(value)
	}
	if k := rawjson.KindOf(value); k == rawjson.ObjectKind || k == rawjson.Bool || k == rawjson.Number {
		return parseWhole(value)
	}
	pieces, err := parseContent(value, outputSide)
	if err == nil && len(pieces) > dialect.MaxResultParts {
		err = fmt.Errorf("%w: more than %d parts in one result", dialect.ErrLimit, dialect.MaxResultParts)
	}
	return pieces, err
}

// isWellFormed reports whether the result of an output has this form.
func (f *resultForm) isWellFormed(o rawjson.Object) bool {
	pieces, err := f.parse(o[f.field])
	if err != nil {
		return false
	}
	_, ok := f.render(&renderer{}, pieces, false)
	return ok
}

func parseWhole(value json.RawMessage) ([]piece, error) {
	if k := rawjson.KindOf(value); k == rawjson.Missing || k == rawjson.Null {
		return nil, nil
	}
	p, err := opaquePiece(value, typeWhole)
	return []piece{p}, err
}

// whole returns the output that parseWhole kept.
func whole(pieces []piece) (json.RawMessage, bool) {
	if len(pieces) != 1 || pieces[0].opaque.GetDialect() != kind || pieces[0].opaque.GetType() != typeWhole {
		return nil, false
	}
	raw := json.RawMessage(pieces[0].opaque.GetJson())
	return raw, rawjson.Valid(raw)
}

func parseAsItIs(json.RawMessage) ([]piece, bool, error) { return nil, false, nil }

func renderAsItIs(_ *renderer, pieces []piece, _ bool) (json.RawMessage, bool) {
	raw, ok := whole(pieces)
	return raw, ok && rawjson.KindOf(raw) == rawjson.Array
}

// renderString writes one text, or none.
func renderString(r *renderer, pieces []piece, inList bool) (json.RawMessage, bool) {
	if inList || len(pieces) > 1 || len(pieces) == 1 && !isPlain(pieces[0]) {
		return nil, false
	}
	return r.renderContent(pieces, outputSide, false), true
}

func renderContentOf(r *renderer, pieces []piece, inList bool) (json.RawMessage, bool) {
	return r.renderContent(pieces, outputSide, inList), true
}

// parseScreenshot parses the screenshot of a computer.
func parseScreenshot(value json.RawMessage) ([]piece, bool, error) {
	if rawjson.KindOf(value) != rawjson.ObjectKind {
		return nil, false, nil
	}
	o, err := rawjson.SplitObject(value)
	if err != nil || !o.IsText("type", typeScreenshot) {
		return nil, false, err
	}
	p := piece{media: &compactordv1.MediaPart{}}
	if err := parseImage(&p, o); err != nil {
		return nil, false, err
	}
	if p.media.GetSource() == nil {
		return nil, false, nil
	}
	p.attachments = []*compactordv1.Attachment{note(noteKind, typeScreenshot)}
	residue, err := dialect.Residue(kind, o, canonicalScreenshot(p.media))
	p.attachments = append(p.attachments, residue...)
	return []piece{p}, true, err
}

func renderScreenshot(r *renderer, pieces []piece, _ bool) (json.RawMessage, bool) {
	if len(pieces) != 1 || pieces[0].media == nil || noted(pieces[0].attachments, noteKind) != typeScreenshot {
		return nil, false
	}
	if !r.asWritten && !isAcceptedMedia(pieces[0], outputSide) {
		return nil, false
	}
	o := canonicalScreenshot(pieces[0].media)
	r.restore(o, pieces[0].attachments, nil)
	return o.Encode(), true
}

// parseChunks parses the output of a shell. A chunk has the texts of two streams, which become pieces, the second only
// if it is not empty.
func parseChunks(value json.RawMessage) ([]piece, bool, error) {
	if rawjson.KindOf(value) != rawjson.Array {
		return nil, false, nil
	}
	chunks, err := rawjson.SplitArray(value)
	if err != nil || len(chunks) > dialect.MaxResultParts/2 {
		return nil, false, err
	}
	var pieces []piece
	for _, raw := range chunks {
		if rawjson.KindOf(raw) != rawjson.ObjectKind {
			return nil, false, nil
		}
		o, err := rawjson.SplitObject(raw)
		if err != nil || rawjson.KindOf(o[stdout]) != rawjson.String || rawjson.KindOf(o[stderr]) != rawjson.String {
			return nil, false, err
		}
		chunk, err := parseChunk(o)
		if err != nil {
			return nil, false, err
		}
		pieces = append(pieces, chunk...)
	}
	return pieces, true, nil
}

func parseChunk(o rawjson.Object) ([]piece, error) {
	out, err := o.DemandBoundedText(stdout, dialect.MaxText)
	if err != nil {
		return nil, err
	}
	errs, err := o.DemandBoundedText(stderr, dialect.MaxText)
	if err != nil {
		return nil, err
	}
	first := textPiece(out)
	residue, err := dialect.Residue(kind, o, canonicalChunk(out, errs))
	if err != nil {
		return nil, err
	}
	first.attachments = append(residue, note(noteStream, stdout))
	if err := dialect.BoundAttachments(first.attachments); err != nil || errs == "" {
		return []piece{first}, err
	}
	second := textPiece(errs)
	second.attachments = []*compactordv1.Attachment{note(noteStream, stderr)}
	return []piece{first, second}, nil
}

func renderChunks(r *renderer, pieces []piece, _ bool) (json.RawMessage, bool) {
	var chunks []json.RawMessage
	for i := 0; i < len(pieces); i++ {
		p := pieces[i]
		if !isPlain(p) || noted(p.attachments, noteStream) != stdout {
			return nil, false
		}
		errs := ""
		if i+1 < len(pieces) && isPlain(pieces[i+1]) && noted(pieces[i+1].attachments, noteStream) == stderr {
			i++
			errs = pieces[i].text.GetText()
		}
		o := canonicalChunk(r.cutText(p.text.GetText()), r.cutText(errs))
		r.restore(o, p.attachments, dialect.Guards{stdout: dialect.MatchesText(p.text.GetText()), stderr: dialect.MatchesText(errs)})
		chunks = append(chunks, o.Encode())
	}
	return rawjson.EncodeArray(chunks), true
}
