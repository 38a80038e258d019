package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

const (
	defaultTryTimeout   = 2 * time.Minute
	defaultTotalTimeout = 10 * time.Minute
	// fallbackSummarizer writes the summary that another one failed to write.
	fallbackSummarizer = "extractive"
)

// written is a summary, and what it took to have it written.
type written struct {
	text       string
	summarizer string
	model      string
	usage      *compactordv1.Usage
	costUSD    *float64
	fallback   compactordv1.SummaryFallback
	cause      string
	calls      uint32
	// promptVersion and cachedPrefix tell how the model that wrote it was asked.
	promptVersion uint32
	cachedPrefix  bool
}

// task is a summary to be written.
type task struct {
	author *author
	policy *compactordv1.Policy
	// counter counts in tokens of the model, as budget and covered do.
	counter session.Counter
	// by writes in place of the policy's summarizer; nil where that one does.
	by summarizers.Summarizer
	// whole says that one summary is written of all, also where a turn is split.
	whole bool
	// view draws the agent's own prompt up to the cut; nil where the conversation is to be sent as text.
	view func(ctx context.Context, dialect compactordv1.Dialect) (*summarizers.View, error)
	// lead is the leading run, which binds the model beyond the summary.
	lead []*compactordv1.LoggedMessage
	// history is summarized as complete turns, prefix as the first part of a turn that goes on after the summary. Either
	// may be empty.
	history, prefix []*compactordv1.LoggedMessage
	// previous is the summary of what came before, which this one takes in; empty where there is none.
	previous string
	focus    string
	// budget is the most tokens that the summary may have; it must have fewer than covered, what it replaces.
	budget, covered uint32
	// read is how much the summarizer has read before for the same operation, of total; in stored tokens.
	read, total uint32
	// emit takes the progress and the text as they come; nil where nobody listens.
	emit func(ctx context.Context, e *compactordv1.CompactionEvent)
}

// summarize has the summary written that the plan's cut needs; nil where it has none.
func (c *compaction) summarize(ctx context.Context) (*written, error) {
	cut := c.plan.GetCut()
	if cut == nil {
		return nil, nil
	}
	if covered := c.coveredTokens(); covered <= minSummaryTokens && c.by == nil && c.asksModel() {
		// The smallest of budgets would gain nothing: no model is asked for that.
		return nil, noSmaller(covered)
	}
	summary, err := c.service.summarize(ctx, c.task(cut))
	c.spent.add(summary)
	if err != nil {
		return nil, err
	}
	return summary, nil
}

// task is the summary that the plan's cut needs.
func (c *compaction) task(cut *compactordv1.Cut) *task {
	history, prefix := c.divide(cut)
	t := &task{
		author: c.author, policy: c.policy, counter: c.snapshot.ModelCounter(), lead: c.snapshot.Lead, history: history, prefix: prefix,
		by: c.by, whole: c.whole,
		previous: c.previousSummary(), focus: c.req.GetFocus(),
		budget: c.textBudget(), covered: c.coveredTokens(), emit: c.emit,
		read: c.read, total: c.toRead(),
	}
	if prompt := c.agentsPrompt(); prompt != nil && c.asksModel() {
		t.whole, t.view = true, prompt.draw
	}
	return t
}

// asksModel says whether a model is to write: the daemon's, or the client's own.
func (c *compaction) asksModel() bool {
	if c.by == nil {
		return c.policy.GetSummary().GetSummarizer() != fallbackSummarizer
	}
	return c.by.Name() != fallbackSummarizer
}

// add adds what another text took.
func (w *written) add(other *written) {
	w.calls += other.calls
	w.usage = session.AddUsage(w.usage, other.usage)
	if other.costUSD != nil {
		total := *other.costUSD
		if w.costUSD != nil {
			total += *w.costUSD
		}
		w.costUSD = &total
	}
}

// divide returns what is summarized as complete turns, and the first part of the turn that the cut splits.
func (c *compaction) divide(cut *compactordv1.Cut) (history, prefix []*compactordv1.LoggedMessage) {
	kept := c.snapshot.Kept
	end := c.snapshot.Position(cut.GetFirstKeptIndex())
	if cut.SplitTurnStart == nil {
		return kept[:end], nil
	}
	start := c.snapshot.Position(cut.GetSplitTurnStart())
	return kept[:start], kept[start:end]
}

// coveredTokens is the size of what the new summary replaces: the messages, and the summary before it.
func (c *compaction) coveredTokens() uint32 {
	history, prefix := c.divide(c.plan.GetCut())
	covered := c.snapshot.Scaled(session.StoredTokens(history) + session.StoredTokens(prefix) +
		session.TextTokens(c.snapshot.Counter, c.snapshot.Entry.GetSummary()))
	if !c.byBytes {
		return covered
	}
	// What weighs in bytes need not in tokens: four bytes make one, as text would.
	bytes := len(c.snapshot.Entry.GetSummary())
	for _, l := range slices.Concat(history, prefix) {
		bytes += proto.Size(l.GetMessage())
	}
	return max(covered, uint32(bytes/4))
}

// summarize has a summary written: by the policy's summarizer, within its limits, or by its fallback. What it returns
// says what was spent, also beside an error.
func (s *Service) summarize(ctx context.Context, t *task) (*written, error) {
	pieces := t.pieces()
	stream := newSummaryStream(t, pieces)
	stream.begin(ctx)
	parts := make([]*written, len(pieces))
	err := s.together(ctx, t.author.operation, t.atATime(), len(pieces), func(ctx context.Context, i int) error {
		w := &summaryWriter{service: s, author: t.author, task: t, stream: stream, part: i, result: &written{}}
		parts[i] = w.result
		return w.write(ctx, pieces[i])
	})
	result := joined(parts)
	if err != nil {
		return result, err
	}
	stream.end(ctx)
	return result, nil
}

// joined is the whole of the parts that were begun.
func joined(parts []*written) *written {
	whole := &written{}
	for _, p := range parts {
		if p == nil {
			continue
		}
		whole.add(p)
		whole.text += p.text
		whole.summarizer = cmp.Or(whole.summarizer, p.summarizer)
		whole.model = cmp.Or(whole.model, p.model)
		whole.promptVersion = max(whole.promptVersion, p.promptVersion)
		whole.cachedPrefix = whole.cachedPrefix || p.cachedPrefix
		if p.fallback != compactordv1.SummaryFallback_SUMMARY_FALLBACK_UNSPECIFIED {
			whole.summarizer, whole.fallback, whole.cause = p.summarizer, p.fallback, p.cause
		}
	}
	return whole
}

// atATime is how many texts are written at a time. Those that the client wrote are taken in order.
func (t *task) atATime() int {
	if t.by != nil {
		return 1
	}
	return t.author.atATime()
}

// summaryWriter has one part of a summary written.
type summaryWriter struct {
	service *Service
	author  *author
	task    *task
	stream  *summaryStream
	// part is which part of the stream it is.
	part   int
	result *written
}

func (w *summaryWriter) write(ctx context.Context, p piece) error {
	if p.request != nil {
		return w.checked(ctx, p.request)
	}
	w.result.text = p.text
	w.stream.say(ctx, w.part, p.text)
	w.stream.finish(ctx, w.part, p.text)
	return nil
}

// checked has a request answered by the policy's summarizer and the text checked, or else by the fallback.
func (w *summaryWriter) checked(ctx context.Context, req *summarizers.Request) error {
	chosen, err := w.summarizer()
	if err != nil {
		return err
	}
	failure := w.author.asks(chosen.Name())
	if failure == nil {
		failure = w.ask(ctx, chosen, req)
	}
	if failure == nil {
		w.result.summarizer = chosen.Name()
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if asSkip(failure) != nil {
		return failure
	}
	w.author.failed(ctx, chosen.Name(), failure)
	return w.fallBack(ctx, chosen, req, failure)
}

// ask has a summarizer write a text that passes: once more with the fault named, where it does not see to that itself.
func (w *summaryWriter) ask(ctx context.Context, chosen summarizers.Summarizer, req *summarizers.Request) error {
	if _, persistent := chosen.(summarizers.Persistent); persistent {
		return w.within(ctx, w.author.deadline, w.author.total, chosen, req)
	}
	return summarizers.Insist(func(refused *summarizers.CheckError) error {
		if refused != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			w.stream.again(ctx, w.part)
			req.Fault = refused.Detail
		}
		return w.once(ctx, chosen, req)
	})
}

// once has a summarizer write a text within the limit for one, or what is left of that for all.
func (w *summaryWriter) once(ctx context.Context, chosen summarizers.Summarizer, req *summarizers.Request) error {
	if end := time.Now().Add(w.author.try); end.Before(w.author.deadline) {
		return w.within(ctx, end, w.author.try, chosen, req)
	}
	return w.within(ctx, w.author.deadline, w.author.total, chosen, req)
}

// summarizer is who is to write first.
func (w *summaryWriter) summarizer() (summarizers.Summarizer, error) {
	if w.task.by != nil {
		return w.task.by, nil
	}
	return w.service.summarizers.Get(w.task.policy.GetSummary().GetSummarizer())
}

func (w *summaryWriter) fallBack(
	ctx context.Context, chosen summarizers.Summarizer, req *summarizers.Request, failure error,
) error {
	if w.author.policy.GetFallback() == compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL {
		return summaryFailure(chosen.Name(), failure)
	}
	// The failure that is told is the last one, under the name of who failed.
	failed := chosen.Name()
	if failed != fallbackSummarizer {
		fallback, err := w.service.summarizers.Get(fallbackSummarizer)
		if err != nil {
			return err
		}
		w.result.fallback = compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE
		why := summaryFailure(chosen.Name(), failure)
		w.service.metrics.fellBack(why)
		w.author.fellBack(ctx, chosen.Name(), why)
		w.result.cause = why.Message
		w.stream.again(ctx, w.part)
		req.Fault = ""
		failure = w.try(ctx, fallback, req)
		if failure == nil {
			w.result.summarizer = fallback.Name()
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failed = fallback.Name()
	}
	var refused *summarizers.CheckError
	if errors.As(failure, &refused) && (refused.Check == summarizers.CheckSize || refused.Check == summarizers.CheckBudget) {
		return noSmaller(w.task.covered)
	}
	return summaryFailure(failed, failure)
}

// noSmaller is the skip of a summary that would be no smaller than what it replaces.
func noSmaller(covered uint32) *skip {
	return &skip{
		compactordv1.SkipReason_SKIP_REASON_NO_GAIN,
		fmt.Sprintf("no summary is smaller than the %d tokens that it would replace", covered),
	}
}

// within has a summarizer write a text, which must pass, until a point in time at the latest, which is that of a limit.
func (w *summaryWriter) within(
	ctx context.Context, deadline time.Time, limit time.Duration, by summarizers.Summarizer, req *summarizers.Request,
) error {
	limited, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	bounded := *req
	if w.author.redactor != nil {
		bounded.Redact = w.author.redactor.Within(limited).Text
	}
	err := w.try(limited, by, &bounded)
	var answered *summarizers.ProviderError
	if err != nil && limited.Err() != nil && ctx.Err() == nil && !errors.As(err, &answered) {
		return &summarizers.TimeLimitError{Limit: limit}
	}
	return err
}

// try has a summarizer write a text and checks it.
func (w *summaryWriter) try(ctx context.Context, by summarizers.Summarizer, req *summarizers.Request) (err error) {
	defer func() { w.service.metrics.refused(by.Name(), err) }()
	progress, asked := &summaryProgress{ctx: ctx, writer: w}, req
	if by.Name() == fallbackSummarizer && w.author.streamed != nil {
		// A model has seen no secrets; this one has.
		progress.redact = w.author.streamed.Text
		asked = w.author.asRedacted(req)
	}
	summary, err := w.guarded(ctx, by, asked, progress)
	w.spend(summary)
	w.service.metrics.repeated(by.Name(), summary)
	w.author.sentAsText(ctx, by.Name(), summary)
	w.author.gotOver(ctx, by.Name(), summary)
	if err != nil {
		return err
	}
	if summary != nil {
		summary.Text = w.author.redact(summary.Text)
	}
	// What was redacted since the context ended is empty: the summarizer may not have seen all.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text, err := accepted(by, req, summary)
	if err != nil {
		return err
	}
	if text != summarizers.WithoutThinking(summary.Text) && w.stream.again(ctx, w.part) {
		w.stream.say(ctx, w.part, text)
	}
	w.accept(ctx, req, summary, text)
	return nil
}

// accepted is a text that passes the checks, as it is stored. Only `extractive` may find nothing to say, and it writes the
// sections as they are stored.
func accepted(by summarizers.Summarizer, req *summarizers.Request, summary *summarizers.Summary) (string, error) {
	if by.Name() != fallbackSummarizer {
		return summarizers.Accept(req, summary)
	}
	if err := summarizers.Check(req, summary); err != nil {
		return "", err
	}
	return summarizers.WithoutThinking(summary.Text), nil
}

func (w *summaryWriter) accept(ctx context.Context, req *summarizers.Request, summary *summarizers.Summary, text string) {
	w.result.text = text
	w.result.model = summary.Model
	w.result.promptVersion = summary.PromptVersion
	w.result.cachedPrefix = summary.CachedPrefix && req.Kind == summarizers.History
	w.stream.finish(ctx, w.part, text)
}

// spend adds up what was paid for, also for what is refused.
func (w *summaryWriter) spend(summary *summarizers.Summary) {
	if summary == nil {
		return
	}
	w.result.add(&written{usage: summary.Usage, costUSD: summary.CostUSD, calls: summary.Calls})
}

// guarded turns a summarizer's panic into an error: who plugs one in must not be able to end the daemon.
func (w *summaryWriter) guarded(
	ctx context.Context, by summarizers.Summarizer, req *summarizers.Request, progress summarizers.Progress,
) (summary *summarizers.Summary, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = apierror.Recovered(ctx, w.service.logger, "summarizer "+by.Name(), w.author.operation, r)
		}
	}()
	return by.Summarize(ctx, req, progress)
}

// summaryProgress turns what a summarizer tells into events.
type summaryProgress struct {
	ctx    context.Context //nolint:containedctx // lives as long as one call of the summarizer, whose interface has no context
	writer *summaryWriter
	// pending is the beginning of a character whose end has not come yet.
	pending string
	// redact replaces secrets in what is shown; nil where there can be none.
	redact func(string) string
}

func (p *summaryProgress) Read(tokens uint32) { p.writer.stream.reads(p.ctx, p.writer.part, tokens) }

// Again voids what this call of the summarizer has shown, and shows the finished parts anew.
func (p *summaryProgress) Again() {
	p.pending = ""
	p.writer.stream.again(p.ctx, p.writer.part)
}

// Text hands on whole characters: a provider's stream may break within one.
func (p *summaryProgress) Text(delta string) {
	p.pending += delta
	whole := len(p.pending)
	for back := 1; back < utf8.UTFMax && back <= len(p.pending); back++ {
		if start := len(p.pending) - back; utf8.RuneStart(p.pending[start]) {
			if !utf8.FullRuneInString(p.pending[start:]) {
				whole = start
			}
			break
		}
	}
	if whole > 0 {
		text := strings.ToValidUTF8(p.pending[:whole], string(utf8.RuneError))
		if p.redact != nil {
			text = p.redact(text)
		}
		p.writer.stream.say(p.ctx, p.writer.part, text)
	}
	p.pending = p.pending[whole:]
}
