package summaries

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/tracing"
)

// draft is one text while it is being written: a part of a summary, a shorter tool result, or the text of a fold.
type draft struct {
	writer *Writer
	// task is the summary that the text is a part of, or has the messages that are folded; nil for a tool result.
	task    *Task
	request *summarizers.Request
	stream  *stream
	// part is its number in the stream.
	part    int
	written *Written
	// shared is the budget that it shares with the other texts of the summary; nil where it shares none.
	shared *sharedBudget
	// text is the accepted text, of the answer.
	text   string
	answer *summarizers.Summary
}

// write has the text written by the summarizer, or else by the fallback.
func (d *draft) write(ctx context.Context) error {
	by := d.writer.summarizer
	if d.writer.op.Client == nil {
		if err := d.writer.config.Allowances.Check(ctx, d.writer.policy); err != nil {
			return err
		}
	}
	if d.writer.atATime() == 1 {
		// Of texts that are requested at the same time none is finished, or not always the same ones.
		d.shared.take(d.request)
	}
	failure := d.writer.provider.ask(by.Name())
	if failure == nil {
		failure = d.writeFirst(ctx, by)
	}
	switch {
	case failure == nil && d.writesNarrative(by):
		if err := d.complete(ctx); err != nil {
			return err
		}
		d.keep(ctx, by)
		return nil
	case failure == nil:
		d.keep(ctx, by)
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case d.writer.contents.failed() != nil:
		return d.writer.contents.failed()
	case errors.Is(failure, errLeftUnchanged):
		return failure
	}
	d.writer.provider.failed(failure)
	d.writer.report.failed(ctx, by.Name(), failure)
	return d.fallBack(ctx, failure)
}

// writeFirst has the operation's summarizer write the text. A model is waited for away from the daemon's own work.
func (d *draft) writeFirst(ctx context.Context, by summarizers.Summarizer) (failure error) {
	away := d.writer.config.Away
	if away == nil || d.writer.op.Client != nil || by.Name() == Fallback {
		return d.writeChecked(ctx, by)
	}
	away(ctx, func() { failure = d.writeChecked(ctx, by) })
	return failure
}

// writeChecked has the summarizer write a text that passes the checks. After a refusal it asks a second time and names
// the reason, unless the summarizer tries again by itself.
func (d *draft) writeChecked(ctx context.Context, by summarizers.Summarizer) error {
	if _, persistent := by.(summarizers.Persistent); persistent {
		return d.attemptWithin(ctx, d.writer.limits.ofAll(), by)
	}
	return summarizers.Insist(func(refused *summarizers.CheckError) error {
		if refused != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			d.stream.again(ctx, d.part)
			d.request.Refusal = refused.Detail
		}
		return d.attemptWithin(ctx, d.writer.limits.ofTry(), by)
	})
}

// attemptWithin has a text written within a time limit, and checks it.
func (d *draft) attemptWithin(ctx context.Context, limit span, by summarizers.Summarizer) error {
	return limit.within(ctx, func(ctx context.Context) error {
		return d.attempt(ctx, by, d.writer.secrets.redactingUntilEnd(ctx, d.request))
	})
}

// fallBack has the fallback write the text after a failure, unless the operation has none or the fallback itself
// failed. The error that it returns names the last summarizer that failed.
func (d *draft) fallBack(ctx context.Context, failure error) error {
	failed := d.writer.summarizer.Name()
	d.writer.config.Metrics.failed(failed, failureOf(failed, failure))
	if d.writer.op.NoFallback || d.writer.policy.GetFallback() == compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL {
		return failureOf(failed, failure)
	}
	if failed != Fallback {
		fallback, err := d.writer.config.Summarizers.Get(Fallback)
		if err != nil {
			return err
		}
		why := failureOf(failed, failure)
		if failure = d.writeInstead(ctx, fallback, why); failure == nil {
			return nil
		}
		if err := d.writer.contents.failed(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failed = Fallback
	}
	var refused *summarizers.CheckError
	if errors.As(failure, &refused) && (refused.Check == summarizers.CheckSize || refused.Check == summarizers.CheckBudget) {
		return &NoGainError{Replaces: d.request.Replaces}
	}
	return failureOf(failed, failure)
}

// writeInstead has the fallback write the text.
func (d *draft) writeInstead(ctx context.Context, fallback summarizers.Summarizer, why *apierror.Error) error {
	d.writer.report.fellBack(ctx, d.writer.summarizer.Name(), why)
	d.written.Fallback = compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE
	d.written.FallbackCause = why.Message
	d.stream.again(ctx, d.part)
	d.request.Refusal = ""
	d.shared.take(d.request)
	if err := d.attempt(ctx, fallback, d.request); err != nil {
		return err
	}
	d.keep(ctx, fallback)
	return nil
}

// attempt has a summarizer write a text, and accepts it if it passes the checks.
func (d *draft) attempt(ctx context.Context, by summarizers.Summarizer, req *summarizers.Request) (err error) {
	w := d.writer
	ctx, span := tracing.Begin(ctx, "summarize", attribute.String("compactord.summarizer", by.Name()))
	defer func() {
		w.config.Metrics.refused(by.Name(), err)
		span.EndWith(err)
	}()
	progress, asked := d.progress(ctx), narrativeRequest(req)
	if by.Name() == Fallback {
		// A model was sent redacted texts, but the fallback has read the secrets.
		progress.redact = w.secrets.replaceShown
		asked = w.secrets.asRedacted(req)
	}
	summary, err := d.ask(ctx, by, asked, progress)
	d.spend(summary)
	w.report.answered(ctx, by.Name(), summary)
	if err != nil {
		return err
	}
	if summary != nil {
		summary.Text = w.secrets.replace(summary.Text)
	}
	// After the context ended, redacting returns empty texts: the summarizer may not have read everything.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d.answer = summary
	d.text, err = accepted(by, req, summary)
	return err
}

// accepted checks a text and returns it as it is stored. Only the fallback may have nothing to say.
func accepted(by summarizers.Summarizer, req *summarizers.Request, summary *summarizers.Summary) (string, error) {
	if by.Name() != Fallback {
		return summarizers.Accept(req, summary)
	}
	return summarizers.Checked(req, summary)
}

// keep stores the text. Where the listener was sent another one, it is sent again.
func (d *draft) keep(ctx context.Context, by summarizers.Summarizer) {
	if d.text != summarizers.WithoutThinking(d.answer.Text) && d.stream.again(ctx, d.part) {
		d.stream.add(ctx, d.part, d.text)
	}
	d.written.Text = d.text
	d.written.Summarizer = by.Name()
	d.written.Model = d.answer.Model
	d.written.PromptVersion = d.answer.PromptVersion
	d.written.CachedPrefix = d.answer.CachedPrefix && d.request.Kind == summarizers.History
	d.shared.finish(d.request, d.text)
	d.stream.finish(ctx, d.part, d.text)
}

// spend adds what the text cost, also where it was refused.
func (d *draft) spend(summary *summarizers.Summary) {
	if summary != nil {
		d.written.spent.add(Spent{Usage: summary.Usage, CostUSD: summary.CostUSD, Calls: summary.Calls})
	}
}

// ask asks a summarizer, and turns its panic into an error: a custom summarizer must not end the daemon.
func (d *draft) ask(
	ctx context.Context, by summarizers.Summarizer, req *summarizers.Request, progress summarizers.Progress,
) (summary *summarizers.Summary, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = apierror.Recovered(ctx, d.writer.config.Logger, "summarizer "+by.Name(), d.writer.op.ID, r)
		}
	}()
	if req, err = readBy(by, req); err != nil {
		return nil, err
	}
	use, err := d.begin(ctx, by, req)
	if err != nil {
		return nil, err
	}
	defer func() { d.end(ctx, use, by, summary) }()
	if summary, err = by.Summarize(ctx, req, progress); err == nil {
		err = d.writer.contents.failed()
	}
	return summary, err
}
