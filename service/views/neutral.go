package views

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/encoded"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// Neutral returns a view as neutral messages. It reads only what the page shows, and holds only a piece of the log at a
// time.
func Neutral(ctx context.Context, log Log, r *Request) (*compactordv1.GetLLMViewResponse, error) {
	drawing, err := log.Drawing(ctx, r.Row, r.Head, r.MaxBytes)
	if err != nil {
		return nil, err
	}
	if pieces, ok := drawing.Pieces.(session.EncodedPieces); ok && encoded.Expected(ctx) {
		pieces.KeepEncodings()
	}
	token := r.token(compactordv1.Dialect_DIALECT_UNSPECIFIED)
	held, relation := r.held(token)
	figures, err := r.figures(ctx, log, drawing, held, relation)
	if err != nil {
		return nil, err
	}
	begin, end, err := r.begin(ctx, log, held, relation)
	if err != nil {
		return nil, err
	}
	defer end()
	p := newPage(begin, r.Head, r.MaxBytes)
	for drawn, err := range drawing.View(ctx, r.options(), begin.at) {
		if err != nil {
			return nil, err
		}
		more, err := p.see(drawn)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	have := uint32(0)
	if r.goesOn(held, token, relation) {
		have = held.SomeExtra()
	}
	if err := p.addExtra(r.Extra, have); err != nil {
		return nil, err
	}
	answer := p.answer(token, figures, r.hasFigures(figures.Session), r.Extra)
	answer.ViewReport.DisableThinking = drawing.DisableThinking(r.options())
	answer.Report = strategies.ReportAt(r.Row, r.headWith(figures.Session))
	encoded.Put(ctx, answer, p.encoded)
	return answer, nil
}

func (r *Request) options() session.ViewOptions { return session.ViewOptions{Thinking: r.Thinking} }

// figures returns the figures of the whole view. Where the head does not have them, only the first page computes them,
// and the token takes them to the next.
func (r *Request) figures(
	ctx context.Context, log Log, drawing *session.Drawing, held session.ViewToken, relation session.Delta,
) (session.ViewFigures, error) {
	f := session.ViewFigures{Session: session.FiguresOf(r.Head)}
	if relation == session.DeltaAppended && held.Resume != nil && held.Resume.Figures != nil &&
		held.Point == session.Point(r.Head) {
		return *held.Resume.Figures, nil
	}
	var err error
	if f.Session, err = r.sessionFigures(ctx, log, drawing); err != nil {
		return f, err
	}
	f.View = f.Session
	if !r.hasSessionsThinking() {
		f.View, err = drawing.Figures(ctx, r.options())
	}
	return f, err
}

// sessionFigures returns the figures of the session's view by its policy.
func (r *Request) sessionFigures(ctx context.Context, log Log, drawing *session.Drawing) (session.Figures, error) {
	policy, err := log.PolicyAt(ctx, r.Row, r.Head)
	if err != nil {
		return session.Figures{}, err
	}
	if session.ChangesView(policy, r.Row.GetResolvedPolicy()) {
		return drawing.Figures(ctx, session.ViewOptions{})
	}
	return session.FiguresOf(r.Head), nil
}

// hasSessionsThinking says that the view shows thinking as the session's policy wants it.
func (r *Request) hasSessionsThinking() bool {
	return session.SameThinking(r.Row.GetResolvedPolicy(), r.options())
}

// hasFigures says that the head has the figures of the requested view.
func (r *Request) hasFigures(sessions session.Figures) bool {
	return r.hasSessionsThinking() && sessions == session.FiguresOf(r.Head)
}

func (r *Request) headWith(sessions session.Figures) *storagev1.Head {
	if sessions == session.FiguresOf(r.Head) {
		return r.Head
	}
	return sessions.InHead(r.Head)
}
