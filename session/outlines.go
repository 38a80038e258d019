package session

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// Outlines says that a state has outlines of messages: messages without the large texts of users, answers, thinking and
// results, without those that stand for results since they arrived, and without the large arguments of calls. So a state
// takes little memory, however much was said, written and returned. A filler of the same size stands for each text, so that
// all figures are those of the messages.
type Outlines struct {
	// Contents reads the messages.
	Contents Pieces
	// Counter is the state's.
	Counter Counter
	// To is the first index of which the state has the message itself.
	To uint32
	// Least is the size in bytes from which on texts are left out.
	Least int
	// Facts returns what plans read of the calls of a message, which Known returns for its outline, and about how many bytes
	// that takes. It must not hold the arguments of the calls. Where it is nil, outlines have all arguments.
	Facts func(*compactordv1.LoggedMessage) (facts any, bytes int)
	// Known is the state's.
	Known *Known

	filler string
}

// Of returns the outline of a message; the message itself where it has no large text.
func (o *Outlines) Of(l *compactordv1.LoggedMessage) *compactordv1.LoggedMessage {
	if !o.shortens(l) {
		return l
	}
	outline := shallow(l)
	outline.Message = shallow(l.GetMessage())
	outline.Message.Parts = slices.Clone(l.GetMessage().GetParts())
	for i, p := range outline.GetMessage().GetParts() {
		switch k := p.GetKind().(type) {
		case *compactordv1.Part_Text:
			p = shallow(p)
			p.Kind = &compactordv1.Part_Text{Text: o.text(k.Text)}
		case *compactordv1.Part_Thinking:
			p = shallow(p)
			p.Kind = &compactordv1.Part_Thinking{Thinking: o.thinking(k.Thinking)}
		case *compactordv1.Part_ToolCall:
			p = shallow(p)
			p.Kind = &compactordv1.Part_ToolCall{ToolCall: o.call(k.ToolCall)}
		case *compactordv1.Part_ToolResult:
			p = shallow(p)
			p.Kind = &compactordv1.Part_ToolResult{ToolResult: o.result(k.ToolResult)}
		default:
		}
		outline.Message.Parts[i] = p
	}
	outline.ArrivalEdits = o.arrivalEdits(l.GetArrivalEdits())
	if slices.ContainsFunc(l.GetMessage().GetParts(), func(p *compactordv1.Part) bool { return o.isLargeCall(p.GetToolCall()) }) {
		facts, bytes := o.Facts(l)
		o.Known.outline(outline, facts, bytes)
	}
	return outline
}

// call returns a call with a filler for large arguments.
func (o *Outlines) call(whole *compactordv1.ToolCall) *compactordv1.ToolCall {
	if !o.isLargeCall(whole) {
		return whole
	}
	short := shallow(whole)
	short.Arguments = o.fill(len(whole.GetArguments()))
	return short
}

// result returns a result without its large texts.
func (o *Outlines) result(whole *compactordv1.ToolResult) *compactordv1.ToolResult {
	r := shallow(whole)
	r.Parts = slices.Clone(whole.GetParts())
	for i, rp := range r.GetParts() {
		if text := rp.GetText(); text != nil {
			rp = shallow(rp)
			rp.Kind = &compactordv1.ResultPart_Text{Text: o.text(text)}
			r.Parts[i] = rp
		}
	}
	return r
}

// text returns a filler for a large text, and any other text as it is.
func (o *Outlines) text(text *compactordv1.TextPart) *compactordv1.TextPart {
	if !o.isLarge(text) {
		return text
	}
	short := shallow(text)
	short.Text = o.fill(len(text.GetText()))
	return short
}

// thinking returns thinking with a filler for a large text.
func (o *Outlines) thinking(whole *compactordv1.ThinkingPart) *compactordv1.ThinkingPart {
	if !o.isLargeThinking(whole) {
		return whole
	}
	short := shallow(whole)
	short.Text = o.fill(len(whole.GetText()))
	return short
}

// arrivalEdits returns edits without large texts. Views count what edits show, so a filler needs the size that the
// counter gives: only one that counts characters gives the filler the size of a text of as many bytes.
func (o *Outlines) arrivalEdits(edits []*compactordv1.Edit) []*compactordv1.Edit {
	if _, ok := o.Counter.(chars4); !ok {
		return edits
	}
	outlines := make([]*compactordv1.Edit, len(edits))
	for i, e := range edits {
		outlines[i] = e
		if size := len(e.GetReplacement()); size >= o.Least && o.Counter.TextSize(e.GetReplacement()) == uint32(size) {
			outlines[i] = shallow(e)
			outlines[i].Replacement = o.fill(size)
		}
	}
	return outlines
}

// shortens reports whether an outline lacks a text of a message: of a USER or ASSISTANT message, or of the result of a
// call. The sizes of stray results and of results with media can depend on their texts, once views show them otherwise.
func (o *Outlines) shortens(l *compactordv1.LoggedMessage) bool {
	switch l.GetMessage().GetRole() {
	case compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_ASSISTANT:
		return slices.ContainsFunc(l.GetMessage().GetParts(), func(p *compactordv1.Part) bool {
			return o.isLarge(p.GetText()) || o.isLargeThinking(p.GetThinking()) || o.isLargeCall(p.GetToolCall())
		})
	default:
	}
	if !answersCall(l) {
		return false
	}
	parts := result(l.GetMessage()).GetParts()
	return !slices.ContainsFunc(parts, func(rp *compactordv1.ResultPart) bool { return rp.GetMedia() != nil }) &&
		slices.ContainsFunc(parts, func(rp *compactordv1.ResultPart) bool { return o.isLarge(rp.GetText()) })
}

// isLarge reports whether an outline lacks a text. Views can leave out a blank one.
func (o *Outlines) isLarge(text *compactordv1.TextPart) bool {
	return text != nil && len(text.GetText()) >= o.Least && !wording.Blank(text.GetText())
}

// isLargeThinking reports whether an outline lacks the text of thinking.
func (o *Outlines) isLargeThinking(thinking *compactordv1.ThinkingPart) bool {
	return thinking != nil && len(thinking.GetText()) >= o.Least && !wording.Blank(thinking.GetText())
}

// isLargeCall reports whether an outline lacks the arguments of a call.
func (o *Outlines) isLargeCall(call *compactordv1.ToolCall) bool {
	return o.Facts != nil && call != nil && len(call.GetArguments()) >= o.Least
}

// SharedBytes returns how many bytes all outlines share.
func (o *Outlines) SharedBytes() int { return len(o.filler) }

// FactsBytes returns about how many bytes the facts of a message of the state can take.
func (o *Outlines) FactsBytes(l *compactordv1.LoggedMessage) int {
	bytes := o.Known.outlinedBytes(l)
	for _, p := range l.GetMessage().GetParts() {
		if call := p.GetToolCall(); l.GetIndex() >= o.To || !o.isLargeCall(call) {
			bytes += len(call.GetArguments())
		}
	}
	return bytes
}

// Bytes returns about how many bytes a message of the state takes beside what all share.
func (o *Outlines) Bytes(l *compactordv1.LoggedMessage) int {
	bytes := proto.Size(l)
	if l.GetIndex() >= o.To || !o.shortens(l) {
		return bytes
	}
	for _, p := range l.GetMessage().GetParts() {
		if o.isLarge(p.GetText()) {
			bytes -= len(p.GetText().GetText())
		}
		if o.isLargeThinking(p.GetThinking()) {
			bytes -= len(p.GetThinking().GetText())
		}
		if o.isLargeCall(p.GetToolCall()) {
			bytes -= len(p.GetToolCall().GetArguments())
		}
		for _, rp := range p.GetToolResult().GetParts() {
			if o.isLarge(rp.GetText()) {
				bytes -= len(rp.GetText().GetText())
			}
		}
	}
	for _, e := range l.GetArrivalEdits() {
		if size := len(e.GetReplacement()); size >= o.Least && o.isFiller(e.GetReplacement()) {
			bytes -= size
		}
	}
	return bytes
}

func (o *Outlines) isFiller(text string) bool {
	return len(text) <= len(o.filler) && text == o.filler[:len(text)]
}

// Outlined returns a state of outlines with outlines of what was appended, too. Contents reads the messages of its head.
func (s *State) Outlined(contents Pieces) *State {
	before, o := s.Outlines, s.Outlines.Extended(contents, s.Head.GetNextIndex())
	next := *s
	next.Outlines = o
	for _, list := range []*[]*compactordv1.LoggedMessage{&next.Lead, &next.Kept} {
		*list = slices.Clone(*list)
		for i, l := range slices.Backward(*list) {
			if l.GetIndex() < before.To {
				break
			}
			if (*list)[i] = o.Of(l); (*list)[i] != l {
				next.Known.forget(l)
			}
		}
	}
	return &next
}

// Extended returns what makes outlines of further messages, up to an index. Contents reads all of them. It returns nil for
// a state without outlines.
func (o *Outlines) Extended(contents Pieces, to uint32) *Outlines {
	if o == nil {
		return nil
	}
	next := *o
	next.Contents, next.To = contents, to
	return &next
}

// fill returns a text of this size. All fillers share memory.
func (o *Outlines) fill(size int) string {
	if len(o.filler) < size {
		o.filler = strings.Repeat("x", max(size, 2*len(o.filler)))
	}
	return o.filler[:size]
}

// shallow returns a copy of a message that shares its fields.
func shallow[M proto.Message](m M) M {
	from := m.ProtoReflect()
	to := from.New()
	for fd, v := range from.Range {
		to.Set(fd, v)
	}
	to.SetUnknown(from.GetUnknown())
	copied, ok := to.Interface().(M)
	if !ok {
		return m
	}
	return copied
}

var errNoContents = errors.New("a message of the state is not in the log")

// Whole returns a message of the state as it is in the log, where the state has an outline of it.
func (s *State) Whole(
	ctx context.Context, l *compactordv1.LoggedMessage,
) (*compactordv1.LoggedMessage, error) {
	o := s.Outlines
	if o == nil || l.GetIndex() >= o.To || !o.shortens(l) {
		return l, nil
	}
	read, err := o.Contents.Active(ctx, l.GetIndex(), l.GetIndex()+1)
	if err == nil && len(read) == 0 {
		err = errNoContents
	}
	if err != nil {
		return nil, err
	}
	return read[0], nil
}

// WithContents returns the state with the messages as they are in the log.
func (s *State) WithContents(ctx context.Context) (*State, error) {
	if s.Outlines == nil {
		return s, nil
	}
	next := *s
	next.Outlines = nil
	return &next, next.readBefore(ctx, s, math.MaxUint32)
}

// WithContentsBefore returns the state with the messages before an index as they are in the log. It remembers nothing of
// them, so that they are not held longer than it is.
func (s *State) WithContentsBefore(ctx context.Context, index uint32) (*State, error) {
	if s.Outlines == nil {
		return s, nil
	}
	next := *s
	next.Known = nil
	return &next, next.readBefore(ctx, s, index)
}

// readBefore replaces the outlines before an index by the messages that another state reads for them.
func (s *State) readBefore(ctx context.Context, by *State, index uint32) error {
	for _, list := range []*[]*compactordv1.LoggedMessage{&s.Lead, &s.OutOfPlace, &s.Kept} {
		whole := slices.Clone(*list)
		for i, l := range whole {
			if l.GetIndex() >= index {
				continue
			}
			var err error
			if whole[i], err = by.Whole(ctx, l); err != nil {
				return err
			}
		}
		*list = whole
	}
	return nil
}
