package compaction

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/summaries"
)

// provenance returns what all records of the compaction have in common.
func (p *planned) provenance() *compactordv1.Provenance {
	return &compactordv1.Provenance{
		OperationId: p.id, Reason: p.reason(), Strategy: p.resolvedStrategy(), ClientStrategy: p.own.GetStrategy(),
		Duration: p.took(p.started),
	}
}

// provenanceOfAttempt returns the provenance of a compaction that ends without an entry: with the summarizer that was
// asked, and all costs. The summary writer cannot redact the focus, since the operation's context may have ended.
func (w *writing) provenanceOfAttempt(ctx context.Context) *compactordv1.Provenance {
	p := w.provenance()
	p.Summarizer = w.writer.Asked()
	w.writer.SetCostsIn(p)
	focus, replaced := summaries.Redact(ctx, w.policy.GetSummary(), w.uid, w.req.GetFocus())
	// The first request to a summarizer counts the focus, but there may have been none.
	p.Focus, p.Redactions = focus, max(p.GetRedactions(), replaced)
	return p
}

// provenanceOfSummary returns the provenance of the summary, with the costs of all texts of the operation.
func (d *written) provenanceOfSummary() *compactordv1.Provenance {
	p := d.provenance()
	p.Focus = d.writer.Redact(d.req.GetFocus())
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
