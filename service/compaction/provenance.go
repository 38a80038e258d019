package compaction

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// provenance is what all records of a compaction say of how they came about.
func (p *planned) provenance() *compactordv1.Provenance {
	return &compactordv1.Provenance{
		OperationId: p.id, Reason: p.reason(), Strategy: p.resolvedStrategy(), ClientStrategy: p.own.GetStrategy(),
		Duration: p.took(p.started),
	}
}

// focus is what the caller wanted the summary to attend to, as it is stored.
func (w *writing) focus() string { return w.writer.Redact(w.req.GetFocus()) }

// provenanceOfAttempt is how a compaction came about that ends without an entry: who was asked, and what that took.
func (w *writing) provenanceOfAttempt() *compactordv1.Provenance {
	p := w.provenance()
	p.Focus = w.focus()
	p.Summarizer = w.writer.Asked()
	w.writer.Charge(p)
	return p
}

// provenanceOfSummary is how the summary came about, and what all texts of the operation took.
func (w *written) provenanceOfSummary() *compactordv1.Provenance {
	p := w.provenance()
	p.Focus = w.focus()
	w.summary.Credit(p)
	w.writer.Charge(p)
	return p
}

// provenanceOf is how edits came about. What the texts took is told once: by the cut that they are committed with.
func (w *written) provenanceOf(edits []*compactordv1.Edit, withCut bool) *compactordv1.Provenance {
	p := w.provenance()
	for _, e := range edits {
		if text, wrote := w.texts[placeOf(e)]; wrote {
			text.Credit(p)
		}
	}
	if !withCut {
		w.writer.Charge(p)
	}
	return p
}

// took is how long something took that ends now.
func (c *Compactor) took(started time.Time) *durationpb.Duration {
	return durationpb.New(c.Hooks.Now().Sub(started))
}
