package session

import (
	"context"
	"errors"
	"iter"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Pieces reads the messages of a head in pieces of bounded size.
type Pieces interface {
	// Active returns active messages with indexes from start to end (exclusive), in order. It may stop before the last of
	// them, but returns at least one where there is one.
	Active(ctx context.Context, start, end uint32) ([]*compactordv1.LoggedMessage, error)
	// Edits returns the edits in force of the messages with indexes from start to end (exclusive), by index and oldest
	// first.
	Edits(ctx context.Context, start, end uint32) (map[uint32][]*compactordv1.Edit, error)
}

// EncodedPieces are Pieces that can keep the encodings of the messages that they read.
type EncodedPieces interface {
	Pieces
	// KeepEncodings has the encodings of messages kept that are read from now on.
	KeepEncodings()
	// Encoding returns the encoding of a message of the log; an empty text where it is not kept, or the log has another
	// message at the index.
	Encoding(index uint32, m *compactordv1.Message) string
}

// Drawing draws views like a State, but holds only a piece of the messages at a time.
type Drawing struct {
	// State has no messages and no edits.
	State *State
	// Pieces are those of the state's head.
	Pieces Pieces
}

// Place is a place in a view. As long as the view only grows, the places of its messages stay the same.
type Place struct {
	// Index is the log's message that the view shows there. Late results have the place of what was said before them. The
	// summary and the LEADING blocks have the index after the leading messages, the LATEST blocks that of the message after
	// them, and instructions have 0.
	Index uint32
	// Skip is how many messages of the view with the same index come before the place.
	Skip uint32
}

// Drawn is a message of a view.
type Drawn struct {
	*compactordv1.ViewMessage

	Place Place
	// WithoutThinking reports whether the view leaves out its thinking.
	WithoutThinking bool
	// Encoding is the encoding of its message, if that is shown as the log has it and the pieces keep encodings; else empty.
	Encoding string
}

// View draws the messages of a view from a place on.
func (d *Drawing) View(ctx context.Context, opts ViewOptions, from Place) iter.Seq2[Drawn, error] {
	return func(yield func(Drawn, error) bool) {
		p := &piecewise{Drawing: d, opts: opts, from: from, builder: d.State.newViewBuilder(opts), yield: yield}
		if err := p.draw(ctx); err != nil && !errors.Is(err, errEnough) {
			yield(Drawn{}, err)
		}
	}
}

// Figures computes the figures of a whole view.
func (d *Drawing) Figures(ctx context.Context, opts ViewOptions) (Figures, error) {
	m := &meter{head: d.State.Head}
	for drawn, err := range d.View(ctx, opts, Place{}) {
		if err != nil {
			return Figures{}, err
		}
		m.add(drawn.ViewMessage, uint32(proto.Size(drawn.GetMessage())))
	}
	return m.figures(), nil
}

// DisableThinking reports whether a tool loop that still runs has lost its thinking in the view.
func (d *Drawing) DisableThinking(opts ViewOptions) bool {
	return disablesThinking(d.State.Head, thinkingPolicy(d.State.Policy, opts.Thinking))
}

// errEnough ends a drawing whose caller wants no more messages.
var errEnough = errors.New("enough messages")

// piecewise is a view while it is drawn.
type piecewise struct {
	*Drawing

	opts    ViewOptions
	from    Place
	builder *viewBuilder
	yield   func(Drawn, error) bool
	// next is the place of the next message.
	next Place
}

func (p *piecewise) draw(ctx context.Context) error {
	h := p.State.Head
	if err := p.lead(ctx); err != nil {
		return err
	}
	if p.State.Entry != nil && p.from.Index < KeptFrom(h) {
		if err := p.summary(ctx); err != nil {
			return err
		}
		if err := p.outOfPlace(ctx); err != nil {
			return err
		}
	}
	if err := p.kept(ctx, max(p.from.Index, KeptFrom(h)), h.GetNextIndex()); err != nil {
		return err
	}
	if p.builder.latestAt < h.GetNextIndex() {
		return nil
	}
	p.builder.blocks(compactordv1.BlockPlace_BLOCK_PLACE_LATEST)
	return p.flush(h.GetNextIndex())
}

// lead draws the instructions, the leading messages, and the LEADING blocks, which have the index after those.
func (p *piecewise) lead(ctx context.Context) error {
	h := p.State.Head
	if p.from.Index == 0 {
		p.builder.instructions()
		if err := p.flush(0); err != nil {
			return err
		}
	}
	if err := p.inLogOrder(ctx, max(p.from.Index, h.GetInstructions().GetReplaced()), h.GetLeadEnd()); err != nil {
		return err
	}
	if p.from.Index > h.GetLeadEnd() {
		return nil
	}
	p.builder.blocks(compactordv1.BlockPlace_BLOCK_PLACE_LEADING)
	return p.flush(h.GetLeadEnd())
}

// flush passes on what was drawn at an index, beginning with the place that was asked for.
func (p *piecewise) flush(index uint32) error {
	if p.next.Index != index {
		p.next = Place{Index: index}
	}
	for _, vm := range p.builder.messages {
		at := p.next
		p.next.Skip++
		if at.Index == p.from.Index && at.Skip < p.from.Skip {
			continue
		}
		if !p.yield(Drawn{ViewMessage: vm, Place: at, WithoutThinking: p.lostThinking(vm), Encoding: p.encoding(vm)}, nil) {
			return errEnough
		}
	}
	clear(p.builder.messages)
	p.builder.messages, p.builder.report.ThinkingDropped = p.builder.messages[:0], p.builder.report.GetThinkingDropped()[:0]
	return nil
}

func (p *piecewise) encoding(vm *compactordv1.ViewMessage) string {
	o, ofLog := vm.GetOrigin().(*compactordv1.ViewMessage_Index)
	pieces, encoded := p.Pieces.(EncodedPieces)
	if !ofLog || !encoded {
		return ""
	}
	return pieces.Encoding(o.Index, vm.GetMessage())
}

func (p *piecewise) lostThinking(vm *compactordv1.ViewMessage) bool {
	o, ofLog := vm.GetOrigin().(*compactordv1.ViewMessage_Index)
	dropped := p.builder.report.GetThinkingDropped()
	return ofLog && len(dropped) > 0 && dropped[len(dropped)-1] == o.Index
}

// read reads a piece with everything that is needed to draw it.
func (p *piecewise) read(ctx context.Context, start, end uint32) ([]*compactordv1.LoggedMessage, error) {
	if start >= end {
		return nil, nil
	}
	piece, err := p.Pieces.Active(ctx, start, end)
	if err != nil || len(piece) == 0 {
		return nil, err
	}
	first := piece[0].GetIndex()
	if p.builder.edits, err = p.Pieces.Edits(ctx, first, piece[len(piece)-1].GetIndex()+1); err != nil {
		return nil, err
	}
	for _, l := range piece {
		// Whether a group is collapsed or folded is said by the edits of the message that leads it.
		for _, call := range l.GetCloses() {
			if err := p.readEditsOf(ctx, call, first); err != nil {
				return nil, err
			}
		}
		if err := p.readEditsOf(ctx, l.GetAnswers(), first); err != nil {
			return nil, err
		}
	}
	return piece, nil
}

// readEditsOf reads the edits of the message with a call, if it comes before the piece that begins at first.
func (p *piecewise) readEditsOf(ctx context.Context, call *compactordv1.CallRef, first uint32) error {
	index := call.GetIndex()
	if _, known := p.builder.edits[index]; call == nil || index >= first || known {
		return nil
	}
	edits, err := p.Pieces.Edits(ctx, index, index+1)
	p.builder.edits[index] = edits[index]
	return err
}

// inLogOrder draws messages whose order in the view is that of the log.
func (p *piecewise) inLogOrder(ctx context.Context, start, end uint32) error {
	for start < end {
		piece, err := p.read(ctx, start, end)
		if err != nil || len(piece) == 0 {
			return err
		}
		for _, l := range piece {
			p.builder.inPlace(l)
			if err := p.flush(l.GetIndex()); err != nil {
				return err
			}
		}
		start = piece[len(piece)-1].GetIndex() + 1
	}
	return nil
}

func (p *piecewise) kept(ctx context.Context, start, end uint32) error {
	for start < end {
		piece, err := p.read(ctx, start, end)
		if err != nil || len(piece) == 0 {
			return err
		}
		if start, err = p.keptPiece(ctx, piece, end); err != nil {
			return err
		}
	}
	return nil
}

// keptPiece draws a piece of the kept part up to the first message that late results come before; that message and all
// up to the last of these results are drawn with them. It returns the index from which the view goes on.
func (p *piecewise) keptPiece(ctx context.Context, piece []*compactordv1.LoggedMessage, end uint32) (uint32, error) {
	for i, l := range piece {
		late, err := p.lateAfter(ctx, l, piece[i+1:], end)
		if err != nil {
			return 0, err
		}
		if len(late) > 0 {
			return p.lateFirst(ctx, l.GetIndex(), late)
		}
		p.builder.inPlace(l)
		if err := p.flush(l.GetIndex()); err != nil {
			return 0, err
		}
	}
	return piece[len(piece)-1].GetIndex() + 1, nil
}

// lateResult is a result that came after something was said to the model.
type lateResult struct {
	index uint32
	call  callKey
}

// lateAfter returns the results that come after a message although the view shows them before it. following are
// messages after it.
func (p *piecewise) lateAfter(
	ctx context.Context, l *compactordv1.LoggedMessage, following []*compactordv1.LoggedMessage, end uint32,
) (late []lateResult, err error) {
	if len(l.GetCloses()) == 0 || !isSaidToModel(l) {
		return nil, nil
	}
	for next := l.GetIndex() + 1; ; {
		for _, m := range following {
			if isModelAnswer(m.GetMessage()) {
				return late, nil
			}
			if answersCall(m) {
				late = append(late, lateResult{m.GetIndex(), keyOf(m.GetAnswers())})
			}
			next = m.GetIndex() + 1
		}
		if next >= end {
			return late, nil
		}
		if following, err = p.Pieces.Active(ctx, next, end); err != nil || len(following) == 0 {
			return late, err
		}
	}
}

// lateFirst draws late results, and then what was said before the last of them. All have the place of the first message.
func (p *piecewise) lateFirst(ctx context.Context, first uint32, late []lateResult) (next uint32, err error) {
	p.builder.late = make(map[callKey]bool, len(late))
	for _, r := range late {
		p.builder.late[r.call] = true
	}
	defer func() { p.builder.late = nil }()
	for _, r := range late {
		if err := p.between(ctx, first, r.index, r.index+1, true); err != nil {
			return 0, err
		}
	}
	next = late[len(late)-1].index + 1
	return next, p.between(ctx, first, first, next, false)
}

// between draws either the results or the other messages of a range, at one place.
func (p *piecewise) between(ctx context.Context, place, start, end uint32, results bool) error {
	for start < end {
		piece, err := p.read(ctx, start, end)
		if err != nil || len(piece) == 0 {
			return err
		}
		for _, l := range piece {
			if answersCall(l) != results {
				continue
			}
			p.builder.inPlace(l)
			if err := p.flush(place); err != nil {
				return err
			}
		}
		start = piece[len(piece)-1].GetIndex() + 1
	}
	return nil
}
