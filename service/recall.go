package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
)

// defaultRecallBytes is where recalled content ends if the request does not say.
const defaultRecallBytes = 64 << 10

// RecallContent implements SessionService.
func (s *Service) RecallContent(
	ctx context.Context, req *compactordv1.RecallContentRequest,
) (*compactordv1.RecallContentResponse, error) {
	what, err := whatToRecall(req)
	if err != nil {
		return nil, err
	}
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	if next := row.GetHead().GetNextIndex(); what.Index >= next {
		return nil, noMessage(what.Index, next)
	}
	l, err := s.logs.Message(ctx, row, what.Index)
	if err != nil {
		return nil, err
	}
	content, err := session.ContentOf(l, what.Part, what.ResultPart)
	switch {
	case errors.Is(err, session.ErrNoContent):
		e := noMessage(what.Index, row.GetHead().GetNextIndex())
		e.Message = err.Error()
		e.Metadata = maps.Clone(e.Metadata)
		e.Metadata["part"] = strconv.FormatUint(uint64(value(what.Part)), 10)
		return nil, e
	case errors.Is(err, session.ErrNoText) && what.Part == nil && len(l.GetMessage().GetParts()) != 1:
		return nil, apierror.InvalidField("part", fmt.Sprintf("message %d has %v", what.Index, err))
	case errors.Is(err, session.ErrNoText):
		return nil, apierror.InvalidField("result_part", fmt.Sprintf("the result of message %d has %v", what.Index, err))
	case err != nil:
		return nil, err
	}
	r := &recall{content: content, limit: defaultRecallBytes, answer: &compactordv1.RecallContentResponse{
		Index: what.Index, Part: content.Part, ResultPart: content.ResultPart,
		Kind: content.Kind, Role: l.GetMessage().GetRole(), State: session.StateOf(row.GetHead(), what.Index),
		Tool: content.Tool, MimeType: content.MIMEType, Name: content.Name,
	}}
	if req.GetMaxBytes() > 0 {
		r.limit = int(req.GetMaxBytes())
	}
	return r.answer, r.read(ctx, req)
}

// whatToRecall reads index, reference, part and piece of a request.
func whatToRecall(req *compactordv1.RecallContentRequest) (session.Reference, error) {
	what := session.Reference{Index: req.GetIndex(), Part: req.Part, ResultPart: req.ResultPart}
	if _, ok := req.GetWhat().(*compactordv1.RecallContentRequest_Reference); ok {
		named, err := session.ParseReference(req.GetReference())
		if err != nil {
			return what, apierror.InvalidField("reference", err.Error())
		}
		what.Index = named.Index
		if named.Part != nil {
			if req.Part != nil {
				return what, apierror.InvalidField("part", "the reference names the part")
			}
			what.Part = named.Part
		}
		if named.ResultPart != nil {
			if req.ResultPart != nil {
				return what, apierror.InvalidField("result_part", "the reference names the piece")
			}
			what.ResultPart = named.ResultPart
		}
	}
	if what.ResultPart != nil && what.Part == nil {
		return what, apierror.InvalidField("result_part", "goes with a part")
	}
	return what, nil
}

func value(n *uint32) uint32 {
	if n == nil {
		return 0
	}
	return *n
}

// recall is an answer on its way.
type recall struct {
	content *session.Content
	limit   int
	answer  *compactordv1.RecallContentResponse
}

func (r *recall) read(ctx context.Context, req *compactordv1.RecallContentRequest) error {
	r.answer.TotalBytes = uint32(r.size())
	r.answer.TotalLines = session.LineCount(r.content.Text)
	if r.isMedium() {
		return r.readMedium(req)
	}
	switch k := req.GetRange().(type) {
	case *compactordv1.RecallContentRequest_Lines:
		x, err := session.Lines(r.content.Text, k.Lines.GetFirst(), k.Lines.GetCount(), r.limit)
		if err != nil {
			return r.beyondLines("lines.first")
		}
		r.show(x)
	case *compactordv1.RecallContentRequest_Match:
		return r.match(ctx, k.Match)
	default:
		x, err := session.Characters(r.content.Text, req.GetBytes().GetOffset(), req.GetBytes().GetLength(), r.limit)
		if err != nil {
			return r.beyondBytes()
		}
		r.show(x)
	}
	return nil
}

func (r *recall) isMedium() bool {
	return r.content.Kind == compactordv1.ContentKind_CONTENT_KIND_MEDIA
}

func (r *recall) size() int { return len(r.content.Text) + len(r.content.Data) }

func (r *recall) readMedium(req *compactordv1.RecallContentRequest) error {
	switch req.GetRange().(type) {
	case *compactordv1.RecallContentRequest_Lines:
		return apierror.InvalidField("lines", "a medium has no lines: ask for bytes")
	case *compactordv1.RecallContentRequest_Match:
		return apierror.InvalidField("match", "a medium has no lines: ask for bytes")
	default:
	}
	x, err := session.Bytes(r.content.Data, req.GetBytes().GetOffset(), req.GetBytes().GetLength(), r.limit)
	if err != nil {
		return r.beyondBytes()
	}
	r.answer.Data = r.content.Data[x.Start:x.End]
	r.place(x)
	return nil
}

// show answers an excerpt of text.
func (r *recall) show(x session.Excerpt) {
	text := r.content.Text
	r.answer.Text = text[x.Start:x.End]
	r.answer.FirstLine = session.LineOf(text, x.Start)
	r.answer.NextLine = session.NextLine(text, x.End)
	r.place(x)
}

func (r *recall) place(x session.Excerpt) {
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

func (r *recall) match(ctx context.Context, m *compactordv1.LineMatch) error {
	pattern, err := session.CompilePattern(m.GetPattern(), m.GetIgnoreCase())
	if err != nil {
		return apierror.InvalidField("match.pattern", err.Error())
	}
	found, err := session.MatchLines(ctx, r.content.Text, pattern,
		max(m.GetFirstLine(), 1), m.GetContextLines(), r.limit, session.NewWork(session.CallSteps))
	if errors.Is(err, session.ErrBeyondEnd) {
		return r.beyondLines("match.first_line")
	}
	if err != nil {
		return err
	}
	r.answer.Blocks = found.Blocks
	r.answer.Offset, r.answer.NextOffset = uint32(found.Start), uint32(found.End)
	r.answer.FirstLine = session.LineOf(r.content.Text, found.Start)
	r.answer.HasMore, r.answer.NextLine = found.More, found.NextLine
	return nil
}

func (r *recall) beyondBytes() error {
	return apierror.InvalidField("bytes.offset", fmt.Sprintf("the content ends at byte %d", r.size()))
}

func (r *recall) beyondLines(field string) error {
	return apierror.InvalidField(field, fmt.Sprintf("the content has %d lines", r.answer.GetTotalLines()))
}
