package recall

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// defaultBytes bounds recalled content where the request sets no limit.
const defaultBytes = 64 << 10

// FieldError describes what is wrong with a field of a request. It quotes no content.
type FieldError struct{ Field, Description string }

func (e *FieldError) Error() string { return e.Field + ": " + e.Description }

// RequestedReference returns the reference that a request names by its index or reference, part and piece. It returns a
// FieldError.
func RequestedReference(req *compactordv1.RecallContentRequest) (Reference, error) {
	wanted := Reference{Index: req.GetIndex(), Part: req.Part, ResultPart: req.ResultPart}
	if _, ok := req.GetWhat().(*compactordv1.RecallContentRequest_Reference); ok {
		child, reference := CutSession(req.GetReference())
		named, err := ParseReference(reference)
		if err != nil {
			return wanted, &FieldError{"reference", err.Error()}
		}
		wanted.SessionID, wanted.Index = child, named.Index
		wanted.Block = named.Block
		if named.Part != nil {
			if req.Part != nil {
				return wanted, &FieldError{"part", "the reference names the part"}
			}
			wanted.Part = named.Part
		}
		if named.ResultPart != nil {
			if req.ResultPart != nil {
				return wanted, &FieldError{"result_part", "the reference names the piece"}
			}
			wanted.ResultPart = named.ResultPart
		}
	}
	if wanted.ResultPart != nil && wanted.Part == nil {
		return wanted, &FieldError{"result_part", "name a part too"}
	}
	return wanted, nil
}

// Answer returns the range of a message's content that a request asks for. The caller sets what depends on the session,
// such as the message's state. A search in the content ends when over says so; nil where it never does. It returns
// ErrNoContent, a FieldError, or the context's error.
func Answer(
	ctx context.Context, l *compactordv1.LoggedMessage, wanted Reference, req *compactordv1.RecallContentRequest,
	over func() bool,
) (*compactordv1.RecallContentResponse, error) {
	content, err := ContentOf(l, wanted.Part, wanted.ResultPart)
	switch {
	case errors.Is(err, ErrNoText) && wanted.Part == nil && len(l.GetMessage().GetParts()) != 1:
		return nil, &FieldError{"part", fmt.Sprintf("message %d has %v", wanted.Index, err)}
	case errors.Is(err, ErrNoText):
		return nil, &FieldError{"result_part", fmt.Sprintf("the result of message %d has %v", wanted.Index, err)}
	case err != nil:
		return nil, err
	}
	r := &reading{content: content, over: over, limit: defaultBytes, answer: &compactordv1.RecallContentResponse{
		Index: wanted.Index, Part: content.Part, ResultPart: content.ResultPart,
		Kind: content.Kind, Role: l.GetMessage().GetRole(),
		Tool: content.Tool, MimeType: content.MIMEType, Name: content.Name,
	}}
	if req.GetMaxBytes() > 0 {
		r.limit = int(req.GetMaxBytes())
	}
	return r.answer, r.read(ctx, req)
}

// reading is an answer while it is made.
type reading struct {
	content *Content
	limit   int
	over    func() bool
	answer  *compactordv1.RecallContentResponse
}

func (r *reading) read(ctx context.Context, req *compactordv1.RecallContentRequest) error {
	r.answer.TotalBytes = uint32(r.size())
	r.answer.TotalLines = LineCount(r.content.Text)
	if r.isMedium() {
		return r.readMedium(req)
	}
	switch k := req.GetRange().(type) {
	case *compactordv1.RecallContentRequest_Lines:
		x, err := Lines(r.content.Text, k.Lines.GetFirst(), k.Lines.GetCount(), r.limit)
		if err != nil {
			return r.beyondLines("lines.first")
		}
		r.show(x)
	case *compactordv1.RecallContentRequest_Match:
		return r.match(ctx, k.Match)
	default:
		x, err := Characters(r.content.Text, req.GetBytes().GetOffset(), req.GetBytes().GetLength(), r.limit)
		if err != nil {
			return r.beyondBytes()
		}
		r.show(x)
	}
	return nil
}

func (r *reading) isMedium() bool {
	return r.content.Kind == compactordv1.ContentKind_CONTENT_KIND_MEDIA
}

func (r *reading) size() int { return len(r.content.Text) + len(r.content.Data) }

func (r *reading) readMedium(req *compactordv1.RecallContentRequest) error {
	switch req.GetRange().(type) {
	case *compactordv1.RecallContentRequest_Lines:
		return &FieldError{"lines", "a medium has no lines: ask for bytes"}
	case *compactordv1.RecallContentRequest_Match:
		return &FieldError{"match", "a medium has no lines: ask for bytes"}
	default:
	}
	x, err := Bytes(r.content.Data, req.GetBytes().GetOffset(), req.GetBytes().GetLength(), r.limit)
	if err != nil {
		return r.beyondBytes()
	}
	r.answer.Data = r.content.Data[x.Start:x.End]
	r.place(x)
	return nil
}

// show sets an excerpt of text in the answer.
func (r *reading) show(x Excerpt) {
	text := r.content.Text
	r.answer.Text = text[x.Start:x.End]
	r.answer.FirstLine = LineOf(text, x.Start)
	r.answer.NextLine = NextLine(text, x.End)
	r.place(x)
}

func (r *reading) place(x Excerpt) {
	r.answer.Offset, r.answer.NextOffset, r.answer.HasMore = uint32(x.Start), uint32(x.End), x.More
	if x.Start > 0 {
		return
	}
	size := 0
	for _, a := range r.content.Attachments {
		size += proto.Size(a)
	}
	if x.End-x.Start+size <= r.limit {
		r.answer.Attachments = r.content.Attachments
	}
}

func (r *reading) match(ctx context.Context, m *compactordv1.LineMatch) error {
	pattern, err := CompilePattern(m.GetPattern(), m.GetIgnoreCase())
	if err != nil {
		return &FieldError{"match.pattern", err.Error()}
	}
	found, err := MatchLines(ctx, r.content.Text, pattern,
		max(m.GetFirstLine(), 1), m.GetContextLines(), r.limit, NewWork(CallSteps).Until(r.over))
	var long *LongLineError
	if errors.As(err, &long) {
		return &FieldError{"match.pattern", long.Error()}
	}
	if errors.Is(err, ErrBeyondEnd) {
		return r.beyondLines("match.first_line")
	}
	if err != nil {
		return err
	}
	r.answer.Blocks = found.Blocks
	r.answer.Offset, r.answer.NextOffset = uint32(found.Start), uint32(found.End)
	r.answer.FirstLine = LineOf(r.content.Text, found.Start)
	r.answer.HasMore, r.answer.NextLine = found.More, found.NextLine
	return nil
}

func (r *reading) beyondBytes() error {
	return &FieldError{"bytes.offset", fmt.Sprintf("the content ends at byte %d", r.size())}
}

func (r *reading) beyondLines(field string) error {
	return &FieldError{field, fmt.Sprintf("the content has %d lines", r.answer.GetTotalLines())}
}
