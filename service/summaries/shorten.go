package summaries

import (
	"context"
	"errors"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// Shorten has tool results made shorter, each of which an edit is to replace: some at a time, within the limits. Texts are
// in the order of the edits; one is nil where no text gets shorter than its result. Errors are those of Write, but for
// NoGainError. What was spent counts in any case.
func (w *Writer) Shorten(ctx context.Context, edits []*compactordv1.Edit) ([]*Written, error) {
	w.tellRead(ctx)
	var telling sync.Mutex
	texts := make([]*Written, len(edits))
	err := w.together(ctx, len(edits), func(ctx context.Context, i int) error {
		texts[i] = &Written{}
		if err := w.shorten(ctx, edits[i], texts[i]); err != nil {
			return err
		}
		telling.Lock()
		defer telling.Unlock()
		w.read += w.result(edits[i]).GetTokens()
		w.tellRead(ctx)
		return nil
	})
	// In the order of the edits, whichever came first.
	for i, text := range texts {
		if text == nil {
			continue
		}
		w.spent.add(text.spent)
		if text.Text == "" {
			texts[i] = nil
		}
	}
	if err != nil {
		return nil, err
	}
	return texts, nil
}

// shorten has one result made shorter. The text stays empty where none is shorter.
func (w *Writer) shorten(ctx context.Context, e *compactordv1.Edit, written *Written) error {
	req := w.ShortenRequest(e)
	d := &draft{writer: w, request: req, stream: w.silent(), written: written}
	err := d.write(ctx)
	var noGain *NoGainError
	switch {
	case err == nil:
		written.Text = req.Result.Replacement(&summarizers.Summary{Text: written.Text})
		return nil
	case errors.Is(err, errLeftAsItIs), errors.As(err, &noGain):
		written.Text = ""
		return nil
	default:
		return err
	}
}

// result is the message of the log whose part an edit is to replace.
func (w *Writer) result(e *compactordv1.Edit) *compactordv1.LoggedMessage {
	return w.op.State.Kept[w.op.State.Position(e.GetIndex())]
}

func (w *Writer) tellRead(ctx context.Context) {
	if w.op.Listener != nil {
		w.op.Listener.Read(ctx, w.read, w.op.ToRead)
	}
}
