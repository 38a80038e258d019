package summaries

import (
	"cmp"
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// Writer is the summary writer of one operation. It serves one caller at a time.
type Writer struct {
	config *Config
	op     *Operation
	policy *compactordv1.SummaryPolicy
	// summarizer is asked first, before the fallback.
	summarizer summarizers.Summarizer
	limits     limits
	secrets    *secrets
	report     *report
	provider   provider
	contents   *contents

	spent Spent
	// read is how much of Operation.ToRead was read for the finished texts.
	read uint32
}

// NewWriter returns the Writer of an operation, whose time limit begins now. After ctx has ended, redacting returns
// empty texts. The error is summarizers.ErrUnknown for the policy's summarizer.
func NewWriter(ctx context.Context, config *Config, op *Operation) (*Writer, error) {
	policy := op.Policy.GetSummary()
	named, err := config.Summarizers.Get(policy.GetSummarizer())
	if err != nil {
		return nil, err
	}
	w := &Writer{
		config: config, op: op, policy: policy, summarizer: named,
		limits: limitsOf(policy, named), secrets: newSecrets(ctx, policy, op.SessionUID),
		report:   &report{logger: config.Logger, metrics: config.Metrics, operation: op.ID},
		contents: newContents(ctx, op.State),
	}
	if op.Client != nil {
		w.summarizer = op.Client
	}
	w.spent.add(op.Spent)
	return w, nil
}

// Redact replaces the secrets in a text if the policy wants it.
func (w *Writer) Redact(text string) string { return w.secrets.replace(text) }

// Redactions returns how many secrets were replaced so far.
func (w *Writer) Redactions() uint32 { return w.secrets.count() }

// Spent returns the costs of all texts so far, including failed ones.
func (w *Writer) Spent() Spent { return w.spent }

// Asked returns the name of the summarizer; empty before it is asked.
func (w *Writer) Asked() string { return w.provider.name() }

// Finish adds the operation's costs to the metrics.
func (w *Writer) Finish() {
	payer := cmp.Or(w.Asked(), summarizers.Client)
	if w.op.Client != nil {
		payer = summarizers.Client
	}
	w.config.Metrics.spent(payer, w.spent)
	w.config.Metrics.redactions.Add(float64(w.Redactions()))
}

// asksModel says whether a model writes: the daemon's, or the client's own.
func (w *Writer) asksModel() bool { return w.summarizer.Name() != Fallback }

// atATime returns how many texts are written at a time. The client's texts exist already, and are used in order.
func (w *Writer) atATime() int {
	if several, can := w.summarizer.(summarizers.Concurrent); can && w.op.Client == nil {
		return max(1, several.Concurrency())
	}
	return 1
}

// request sets what all requests of the operation have in common.
func (w *Writer) request(req *summarizers.Request) *summarizers.Request {
	counter := w.op.State.ModelCounter()
	req.Count = func(text string) uint32 { return session.TextTokens(counter, text) }
	req.TryTimeout = w.limits.try
	req.Input = inputOf(w.policy.GetInput())
	req.Focus = w.Redact(w.op.Focus)
	if req.Kind == summarizers.History || req.Kind == summarizers.TurnPrefix {
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

// defaultInputChars is how many characters of a tool result and of a call's arguments a model is shown, where the
// policy was not resolved.
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
