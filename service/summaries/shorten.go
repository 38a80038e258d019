package summaries

import (
	"context"
	"errors"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// Shorten has a shorter text written for the tool result of each edit, several at a time, within the time limits. Texts
// are in the order of the edits; nil where no text is shorter than the result. Errors are those of Write except
// NoGainError. Costs count in any case.
func (w *Writer) Shorten(ctx context.Context, edits []*compactordv1.Edit) ([]*Written, error) {
	w.reportRead(ctx)
	var readMu sync.Mutex
	texts := make([]*Written, len(edits))
	err := w.runConcurrently(ctx, len(edits), func(ctx context.Context, i int) error {
		texts[i] = &Written{}
		if err := w.shorten(ctx, edits[i], texts[i]); err != nil {
			return err
		}
		readMu.Lock()
		defer readMu.Unlock()
		w.read += w.result(edits[i]).GetTokens()
		w.reportRead(ctx)
		return nil
	})
	// Add up in the order of the edits, whichever was finished first.
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

// shorten has one result shortened. The text is empty where none is shorter.
func (w *Writer) shorten(ctx context.Context, e *compactordv1.Edit, written *Written) error {
	req, err := w.ShortenRequest(e)
	if err != nil {
		return err
	}
	d := &draft{writer: w, request: req, stream: w.silent(), written: written}
	err = d.write(ctx)
	var noGain *NoGainError
	switch {
	case err == nil:
		written.Text = req.Result.Replacement(&summarizers.Summary{Text: written.Text})
		return nil
	case errors.Is(err, errResultUnchanged), errors.As(err, &noGain):
		written.Text = ""
		return nil
	default:
		return err
	}
}

// result returns the logged message of an edit.
func (w *Writer) result(e *compactordv1.Edit) *compactordv1.LoggedMessage {
	return w.op.State.Kept[w.op.State.Position(e.GetIndex())]
}

func (w *Writer) reportRead(ctx context.Context) {
	if w.op.Listener != nil {
		w.op.Listener.Read(ctx, w.read, w.op.ToRead)
	}
}
