package extractive

import (
	"context"
	"math"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/quotation"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// WithQuotes returns a summary that a model wrote, with quotes of what it leaves out: as many as fit into req.MaxTokens,
// and as far as the summary then is at most half of what it replaces. The faults say what was left out by bugs. When the
// context ends, it returns the context's cause.
func WithQuotes(ctx context.Context, req *summarizers.Request, narrative string) (string, []summarizers.Fault, error) {
	g := &guard{}
	req = withoutEarlier(withoutSecretsBefore(req))
	n := &quoting{req: req, l: newLedger(0)}
	n.l.silent = req.WithoutToolWords
	n.before, n.after = summarizers.EndOfSection(req, narrative, roles[kindFact])
	budget, tokens := quotedBudget(req), n.tokens(nil)
	if tokens >= budget {
		return narrative, nil, nil
	}
	d := newDigest(g, req)
	for _, m := range req.Earlier {
		if ctx.Err() != nil {
			return "", nil, context.Cause(ctx)
		}
		g.try(summarizers.StageQuotes, m.GetIndex(), func() { quotable(m, asItIs, notOfUser(d.l.quote(d.l.quotes))) })
	}
	for _, m := range req.Messages {
		if ctx.Err() != nil {
			return "", nil, context.Cause(ctx)
		}
		m, err := req.Read(m)
		if err != nil {
			return "", nil, err
		}
		g.try(summarizers.StageQuotes, m.GetIndex(), func() { quotable(m, asItIs, d.l.quote(d.l.quotes)) })
	}
	summary := narrative
	g.try(summarizers.StagePlan, 0, func() {
		picks := newSources(req).withoutSecrets(rankQuotes(d.l.quotes, narrative, "", budget), 8*budget)
		perByte := float64(tokens) / float64(len(n.before)+len(n.after))
		if most := mostThatFit(picks, budget, tokens, perByte, func(k int) int64 { return n.tokens(picks.first(k)) }); most > 0 {
			summary = n.summary(picks.first(most))
		}
	})
	if ctx.Err() != nil {
		return "", nil, context.Cause(ctx)
	}
	return summary, g.faults, nil
}

// quoting adds quotes to a summary.
type quoting struct {
	req *summarizers.Request
	l   *ledger
	// before and after are the parts of the summary around the quotes.
	before, after string
}

func (q *quoting) summary(picks []evidence.Pick) string {
	return q.before + strings.Join(q.l.quoteLines(picks, nil), "\n") + q.after
}

func (q *quoting) tokens(picks []evidence.Pick) int64 { return int64(q.req.Count(q.summary(picks))) }

// WithoutQuotes returns a summary without its quotes, as the next model gets it, and without the headings of sections
// that have nothing else. sections are those of the summary; they are empty if they are unknown.
func WithoutQuotes(summary string, sections []*compactordv1.Section) string {
	g := &guard{}
	r := &quoteReader{previousReader{next: math.MaxUint32, l: newLedger(0), holds: kindFact, quotes: true}}
	if len(sections) > 0 {
		g.try(summarizers.StagePrevious, 0, func() { r.titled = layoutOf(summarizers.History, sections).titled() })
	}
	var kept []string
	// heading is the place of the current section's heading while no line is kept below it, or -1. removed says that
	// quotes were removed there.
	heading, removed := -1, false
	endSection := func() {
		if removed && heading >= 0 {
			kept = kept[:heading]
		}
		heading, removed = -1, false
	}
	for line := range strings.SplitSeq(summary, "\n") {
		quote := false
		g.try(summarizers.StagePrevious, 0, func() { quote = r.isQuote(line) })
		switch {
		case quote:
			removed = true
			continue
		case strings.HasPrefix(line, "#"):
			endSection()
			heading = len(kept)
		case strings.TrimSpace(line) != "":
			heading = -1
		}
		kept = append(kept, line)
	}
	endSection()
	if len(kept) == 0 {
		return summary
	}
	return strings.Join(kept, "\n")
}

// quoteReader recognizes the lines of a summary that are quotes.
type quoteReader struct{ previousReader }

// isQuote reads the next line.
func (r *quoteReader) isQuote(line string) bool {
	if r.goesOnQuoting(line, strings.TrimSpace(line)) {
		return true
	}
	r.line(line)
	body, form, marked := openQuote(line)
	_, _, rest, ok := spanAt(body)
	_, tells := readFileLine(rest)
	return ok && marked && !r.inCode && (form.next == quotation.Mark || r.quotes && (tells || hasName(rest)))
}

// CitedAtEnd returns a model's summary with the citations that list items begin with at the items' ends, as statements
// have them. Quotes begin with theirs, and a model's line must not be taken for one.
func CitedAtEnd(narrative string) string {
	if !strings.Contains(narrative, "[#") {
		return narrative
	}
	lines := strings.Split(narrative, "\n")
	for i, line := range lines {
		body, listed := listItem(strings.TrimSpace(line))
		if _, _, rest, ok := spanAt(body); ok && listed && strings.TrimSpace(rest) != "" {
			marker, _, _ := strings.Cut(line, "[#")
			lines[i] = marker + strings.TrimSpace(rest) + " " + strings.TrimSuffix(body, " "+rest)
		}
	}
	return strings.Join(lines, "\n")
}
