package summaries

import (
	"cmp"
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// Writer has the texts of one operation written. It serves one caller at a time.
type Writer struct {
	config *Config
	op     *Operation
	policy *compactordv1.SummaryPolicy
	// summarizer is who is asked first.
	summarizer summarizers.Summarizer
	limits     limits
	secrets    *secrets
	report     *report
	provider   provider

	spent Spent
	// read is how much of Operation.ToRead was read for the texts that are written.
	read uint32
}

// NewWriter returns the writer of an operation, whose time begins now. Once ctx has ended it replaces no more secrets: it
// leaves nothing of a text. The error is summarizers.ErrUnknown, of the policy's summarizer.
func NewWriter(ctx context.Context, config *Config, op *Operation) (*Writer, error) {
	policy := op.Policy.GetSummary()
	named, err := config.Summarizers.Get(policy.GetSummarizer())
	if err != nil {
		return nil, err
	}
	w := &Writer{
		config: config, op: op, policy: policy, summarizer: named,
		limits: limitsOf(policy, named), secrets: newSecrets(ctx, policy, op.SessionUID),
		report: &report{logger: config.Logger, metrics: config.Metrics, operation: op.ID},
	}
	if op.Client != nil {
		w.summarizer = op.Client
	}
	w.spent.add(op.Spent)
	return w, nil
}

// Redact replaces the secrets in a text, where the policy wants that.
func (w *Writer) Redact(text string) string { return w.secrets.replace(text) }

// Redactions counts the secrets that were replaced so far.
func (w *Writer) Redactions() uint32 { return w.secrets.count() }

// Spent is what all texts took so far, also those that failed.
func (w *Writer) Spent() Spent { return w.spent }

// Asked is the name of the summarizer, once it was asked.
func (w *Writer) Asked() string { return w.provider.name() }

// Finish counts what the operation took.
func (w *Writer) Finish() {
	payer := cmp.Or(w.Asked(), summarizers.Client)
	if w.op.Client != nil {
		payer = summarizers.Client
	}
	w.config.Metrics.spent(payer, w.spent)
	w.config.Metrics.redactions.Add(float64(w.Redactions()))
}

// asksModel says whether a model is to write: the daemon's, or the client's own.
func (w *Writer) asksModel() bool { return w.summarizer.Name() != Fallback }

// atATime is how many texts are written at a time. Those of the client are there already, and taken in order.
func (w *Writer) atATime() int {
	if several, can := w.summarizer.(summarizers.Concurrent); can && w.op.Client == nil {
		return max(1, several.Concurrency())
	}
	return 1
}

// request fills in what all requests of the operation have in common.
func (w *Writer) request(req *summarizers.Request) *summarizers.Request {
	counter := w.op.State.ModelCounter()
	req.Count = func(text string) uint32 { return session.TextTokens(counter, text) }
	req.TryTimeout = w.limits.try
	req.Input = inputOf(w.policy.GetInput())
	req.Focus = w.Redact(w.op.Focus)
	if req.Kind != summarizers.Observation {
		req.PromptOverride = w.policy.GetPromptOverride()
	}
	for _, text := range w.policy.GetExtraContext().GetTexts() {
		req.ExtraContext = append(req.ExtraContext, w.Redact(text))
	}
	if w.secrets != nil {
		req.Redact = w.secrets.replace
	}
	return req
}

// The characters of a tool result and of a call's arguments that a model is shown, where no policy was resolved.
const defaultInputChars = 2000

func inputOf(p *compactordv1.SummaryInput) summarizers.Input {
	in := summarizers.Input{
		ToolResultChars: defaultInputChars, ToolArgumentChars: defaultInputChars,
		Thinking: p == nil || p.Thinking == nil || p.GetThinking(),
	}
	if p != nil && p.ToolResultChars != nil {
		in.ToolResultChars = int(p.GetToolResultChars())
	}
	if p != nil && p.ToolArgumentChars != nil {
		in.ToolArgumentChars = int(p.GetToolArgumentChars())
	}
	return in
}
