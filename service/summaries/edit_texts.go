package summaries

import (
	"context"
	"errors"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// WriteEdits has the text of each edit written, several at a time, within the time limits: a shorter tool result, or what
// stands in place of a range of messages. Texts are in the order of the edits; nil where no text is shorter than what it
// replaces. Errors are those of Write except NoGainError. Costs count in any case.
func (w *Writer) WriteEdits(ctx context.Context, edits []*compactordv1.Edit) ([]*Written, error) {
	w.reportRead(ctx)
	var readMu sync.Mutex
	texts := make([]*Written, len(edits))
	err := w.runConcurrently(ctx, len(edits), func(ctx context.Context, i int) error {
		texts[i] = &Written{}
		if err := w.writeEdit(ctx, edits[i], texts[i]); err != nil {
			return err
		}
		readMu.Lock()
		defer readMu.Unlock()
		w.read += session.StoredTokens(w.readFor(edits[i]))
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

// writeEdit has the text of one edit written. The text is empty where none is shorter.
func (w *Writer) writeEdit(ctx context.Context, e *compactordv1.Edit, written *Written) error {
	req, err := w.EditRequest(e)
	if err != nil {
		return err
	}
	d := &draft{writer: w, request: req, stream: w.silent(), written: written}
	if req.Kind == summarizers.Range {
		d.task = &Task{History: req.Messages}
		if w.op.StreamsFold {
			d.stream = w.stream([]part{{request: req}})
		}
		if req.Replaces <= minTokens && w.op.Client == nil {
			// Even the smallest text would gain nothing.
			return nil
		}
	}
	err = d.write(ctx)
	var noGain *NoGainError
	switch {
	case err == nil:
		written.Text = replacement(e, req, written.Text)
		return nil
	case errors.Is(err, errLeftUnchanged), errors.As(err, &noGain):
		written.Text = ""
		return nil
	default:
		return err
	}
}

// replacement returns what views show where an edit has this text.
func replacement(e *compactordv1.Edit, req *summarizers.Request, text string) string {
	if req.Kind == summarizers.Range {
		return wording.Fold(e.GetFoldStart(), e.GetFoldEnd(), text)
	}
	return req.Result.Replacement(&summarizers.Summary{Text: text})
}

// EditRequest returns the request for the text of an edit.
func (w *Writer) EditRequest(e *compactordv1.Edit) (*summarizers.Request, error) {
	if e.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD {
		return w.foldRequest(e)
	}
	return w.shortenRequest(e)
}

// readFor returns the logged messages that are read for the text of an edit.
func (w *Writer) readFor(e *compactordv1.Edit) []*compactordv1.LoggedMessage {
	if e.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD {
		return strategies.Folded(w.op.State, e)
	}
	return []*compactordv1.LoggedMessage{w.result(e)}
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
