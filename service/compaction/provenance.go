package compaction

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// provenance returns what all records of the compaction have in common.
func (p *planned) provenance() *compactordv1.Provenance {
	return &compactordv1.Provenance{
		OperationId: p.id, Reason: p.reason(), Strategy: p.resolvedStrategy(), ClientStrategy: p.own.GetStrategy(),
		Duration: p.took(p.started),
	}
}

// focus returns the focus of the request, redacted.
func (w *writing) focus() string { return w.writer.Redact(w.req.GetFocus()) }

// provenanceOfAttempt returns the provenance of a compaction that ends without an entry: with the summarizer that was
// asked, and all costs.
func (w *writing) provenanceOfAttempt() *compactordv1.Provenance {
	p := w.provenance()
	p.Focus = w.focus()
	p.Summarizer = w.writer.Asked()
	w.writer.SetCostsIn(p)
	return p
}

// provenanceOfSummary returns the provenance of the summary, with the costs of all texts of the operation.
func (d *written) provenanceOfSummary() *compactordv1.Provenance {
	p := d.provenance()
	p.Focus = d.focus()
	d.summary.SetWriterIn(p)
	d.writer.SetCostsIn(p)
	return p
}

// provenanceOf returns the provenance of edits. With a cut, that one's record has the costs.
func (d *written) provenanceOf(edits []*compactordv1.Edit, withCut bool) *compactordv1.Provenance {
	p := d.provenance()
	for _, e := range edits {
		if text, wrote := d.texts[placeOf(e)]; wrote {
			text.SetWriterIn(p)
		}
	}
	if !withCut {
		d.writer.SetCostsIn(p)
	}
	return p
}

// took returns the time since started.
func (c *Compactor) took(started time.Time) *durationpb.Duration {
	return durationpb.New(c.Hooks.Now().Sub(started))
}
