package evaluation

import (
	"fmt"
	"slices"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/futurereference"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// Report is the result of an evaluation, with the field names of its JSON document.
type Report struct {
	Transcripts []Transcript `json:"transcripts"`
	Prices      Prices       `json:"prices"`
	Presets     []Preset     `json:"presets"`
	Summaries   []Summary    `json:"summaries"`
	// Recorded is about the summaries in the files, where they have some.
	Recorded []Recorded `json:"recorded_summaries"`
	Optimum  *Optimum   `json:"optimum,omitempty"`
	Unread   []Unread   `json:"unread"`

	command  *Command
	sessions []*measured
}

// Transcript is one transcript.
type Transcript struct {
	Name          string `json:"name"`
	Messages      int    `json:"messages"`
	Tokens        uint32 `json:"tokens"`
	ContextWindow uint32 `json:"context_window"`
	Requests      int    `json:"requests"`
	// Cuts are where recall is measured, and Needed is what the agent went on to use there.
	Cuts   []futurereference.Cut `json:"cuts"`
	Needed int                   `json:"needed"`
}

// Prices are those of the flags.
type Prices struct {
	Input      float64 `json:"input"`
	CacheWrite float64 `json:"cache_write"`
	CacheRead  float64 `json:"cache_read"`
	CacheTTL   uint32  `json:"cache_ttl"`
	CacheModel string  `json:"cache_model"`
}

// Preset is what replays under a preset cost and lose, over all transcripts.
type Preset struct {
	Name       string `json:"name"`
	Summarizer string `json:"summarizer"`
	Requests   int    `json:"requests"`
	// Compactions wrote a summary; Rewrites changed what the model had seen.
	Compactions int `json:"compactions"`
	Rewrites    int `json:"rewrites"`
	// OverWindow are requests that a provider would have refused.
	OverWindow int `json:"requests_over_window"`
	// Unreachable are requests above the trigger because of what no compaction can remove.
	Unreachable  int     `json:"requests_unreachable"`
	SentTokens   int     `json:"sent_tokens"`
	ReadTokens   int     `json:"read_tokens"`
	WriteTokens  int     `json:"written_tokens"`
	PlainTokens  int     `json:"plain_tokens"`
	ReusedTokens int     `json:"reused_tokens"`
	PeakTokens   int     `json:"peak_tokens"`
	PeakShare    float64 `json:"peak_share_of_window"`
	Dollars      float64 `json:"dollars"`
	// Uncached is the cost without a prompt cache, and OfSummaries the part of Dollars that models got for summaries.
	Uncached    float64 `json:"dollars_without_cache"`
	OfSummaries float64 `json:"dollars_of_summaries"`
	// OverBest is how much more it costs than compaction at the best times would, with views of the same size.
	OverBest *float64 `json:"over_best_timing,omitempty"`
	Recall   *Recall  `json:"recall,omitempty"`
	// Dominated says that another preset costs no more and keeps no less.
	Dominated bool `json:"dominated"`
	// LostCount is the number of needed entities that were neither in a view nor reachable, and Lost the first of them.
	LostCount int      `json:"lost_count"`
	Lost      []Lost   `json:"lost"`
	Failed    []Failed `json:"failed"`
}

// Lost is something that an agent needed and did not have.
type Lost struct {
	Transcript string `json:"transcript"`
	// End is the length of the log at the cut.
	End int `json:"end"`
	futurereference.Need
	// Excerpt is the line of the first source.
	Excerpt string `json:"excerpt"`
}

// Failed is a replay that did not end.
type Failed struct {
	Transcript string `json:"transcript"`
	Error      string `json:"error"`
	bug        bool
	inRow      string
}

// Summary is what summaries of a size hold, over all transcripts.
type Summary struct {
	Writer      string `json:"writer"`
	Baseline    bool   `json:"baseline"`
	Explanation string `json:"explanation"`
	Budget      uint32 `json:"budget"`
	// Used is the mean share of the budget that a text uses.
	Used   float64 `json:"budget_used"`
	Recall *Recall `json:"recall"`
}

// Optimum is when compaction would have cost least, summed over the transcripts.
type Optimum struct {
	// LeftTokens is the mean of what a compaction is assumed to leave beside the instructions.
	LeftTokens  int     `json:"left_tokens"`
	Compactions int     `json:"compactions"`
	PeakShare   float64 `json:"peak_share_of_window"`
	Dollars     float64 `json:"dollars"`
	// Triggers are the costs of fixed triggers.
	Triggers []Trigger `json:"triggers"`
}

// Trigger is a fixed trigger.
type Trigger struct {
	Share       float64 `json:"share_of_window"`
	Compactions int     `json:"compactions"`
	Dollars     float64 `json:"dollars"`
}

// Unread is a file that could not be read.
type Unread struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// mostLost is how many losses of a preset are listed.
const mostLost = 20

func newReport(c *Command) *Report {
	return &Report{
		Transcripts: []Transcript{}, Presets: []Preset{}, Summaries: []Summary{}, Recorded: []Recorded{}, Unread: []Unread{}, command: c,
		Prices: Prices{c.Price, c.CacheWrite, c.CacheRead, c.CacheTTL, c.CacheModel},
	}
}

// sum fills the report from the transcripts.
func (r *Report) sum() {
	for _, s := range r.sessions {
		t := Transcript{
			Name: s.name, Messages: s.size, Tokens: s.tokens, ContextWindow: *s.limits.ContextWindow,
			Requests: len(s.growth.Sizes), Cuts: []futurereference.Cut{},
		}
		for _, c := range s.cuts {
			t.Cuts = append(t.Cuts, c.Cut)
			t.Needed += len(c.needs)
		}
		r.Transcripts = append(r.Transcripts, t)
	}
	if len(r.sessions) == 0 {
		return
	}
	for i := range r.sessions[0].replays {
		r.Presets = append(r.Presets, r.preset(i))
	}
	r.markDominated()
	r.sumSummaries()
	r.sumRecorded()
	r.sumOptimum()
}

// preset sums the replays with a number.
func (r *Report) preset(number int) Preset {
	first := r.sessions[0].replays[number]
	p := Preset{Name: first.preset, Summarizer: first.summarizer, Lost: []Lost{}, Failed: []Failed{}}
	var tallies []*tally
	best, compared := 0.0, 0.0
	for _, s := range r.sessions {
		one := s.replays[number]
		if one.failed != nil {
			p.Failed = append(p.Failed, Failed{s.name, one.failed.Error(), api.HasReason(one.failed, "INTERNAL"), one.describe()})
			continue
		}
		p.add(one, int(*s.limits.ContextWindow))
		tallies = append(tallies, &one.recall)
		for _, l := range one.lost {
			if p.LostCount++; len(p.Lost) < mostLost && !r.command.Figures {
				p.Lost = append(p.Lost, Lost{s.name, l.cut.End, l.Need, l.excerpt})
			}
		}
		if least := s.optimum.bestOf[one]; least > 0 {
			best += least
			compared += one.totals.Dollars
		}
	}
	if best > 0 {
		over := compared/best - 1
		p.OverBest = &over
	}
	p.Recall = recallOf(tallies)
	return p
}

// add adds a replay.
func (p *Preset) add(one *replayed, window int) {
	p.Requests += one.totals.Requests
	p.Compactions += int(one.figures.Compactions)
	p.Rewrites += int(one.figures.Rewrites)
	p.OverWindow += int(one.figures.RequestsOverWindow)
	p.Unreachable += int(one.figures.RequestsUnreachable)
	p.SentTokens += one.totals.Sent
	p.ReadTokens += one.totals.Read
	p.WriteTokens += one.totals.Written
	p.PlainTokens += one.totals.Plain
	p.ReusedTokens += int(one.figures.ReusedTokens)
	p.PeakTokens = max(p.PeakTokens, one.totals.Peak)
	p.PeakShare = max(p.PeakShare, float64(one.totals.Peak)/float64(window))
	p.Dollars += one.totals.Dollars
	p.Uncached += one.totals.Uncached
	p.OfSummaries += one.figures.Spent.Dollars
}

// markDominated compares the presets that ended for all transcripts.
func (r *Report) markDominated() {
	var points []point
	for _, p := range r.Presets {
		if p.Recall != nil && len(p.Failed) == 0 {
			points = append(points, p.point())
		}
	}
	for i := range r.Presets {
		if p := &r.Presets[i]; p.Recall != nil && len(p.Failed) == 0 {
			p.Dominated = dominated(p.point(), points)
		}
	}
}

func (p *Preset) point() point { return point{p.Dollars, p.Recall.Held.Mean} }

func (r *Report) sumSummaries() {
	for _, w := range (&evaluator{Command: r.command, app: &api.App{}}).writers() {
		for _, budget := range r.command.Budgets {
			tallies := make([]*tally, 0, len(r.sessions))
			for _, s := range r.sessions {
				tallies = append(tallies, s.held[sized{w.name, budget}])
			}
			if recall := recallOf(tallies); recall != nil {
				r.Summaries = append(r.Summaries, Summary{
					w.name, w.baseline, w.explanation, budget, recall.Tokens / float64(budget), recall,
				})
			}
		}
	}
}

func (r *Report) sumOptimum() {
	o := &Optimum{Triggers: make([]Trigger, len(triggerShares))}
	for i, share := range triggerShares {
		o.Triggers[i].Share = share
	}
	n := 0
	for _, s := range r.sessions {
		if s.optimum == nil || s.optimum.best == nil {
			continue
		}
		n++
		o.LeftTokens += s.optimum.left
		o.Compactions += len(s.optimum.best.Before)
		o.PeakShare = max(o.PeakShare, float64(s.optimum.best.Peak)/float64(*s.limits.ContextWindow))
		o.Dollars += s.optimum.best.Dollars
		for i, t := range s.optimum.triggered {
			o.Triggers[i].Compactions += len(t.Before)
			o.Triggers[i].Dollars += t.Dollars
		}
	}
	if n > 0 {
		o.LeftTokens /= n
		r.Optimum = o
	}
}

// ending returns the command's error.
func (r *Report) ending() error {
	var failed []string
	bug := false
	for _, p := range r.Presets {
		if len(p.Failed) > 0 {
			failed = append(failed, p.Name)
			bug = bug || slices.ContainsFunc(p.Failed, func(f Failed) bool { return f.bug })
		}
	}
	switch {
	case len(failed) > 0:
		return fmt.Errorf("%s of %s failed", terminal.Number(len(failed)), terminal.Count(len(r.Presets), "preset"))
	case len(r.Unread) > 0:
		return fmt.Errorf("%s of %s could not be read", terminal.Number(len(r.Unread)),
			terminal.Count(len(r.Unread)+len(r.sessions), "file"))
	case len(r.Presets) == 0 && len(r.Summaries) == 0 && len(r.Recorded) == 0:
		return terminal.NothingError{Why: "the transcripts are too short to measure recall"}
	default:
		return nil
	}
}

// longest returns the transcripts with the most requests, at most as many as have a diagram.
func (r *Report) longest() []*measured {
	order := slices.Clone(r.sessions)
	slices.SortStableFunc(order, func(a, b *measured) int { return len(b.growth.Sizes) - len(a.growth.Sizes) })
	return order[:min(len(order), mostCostPlots)]
}
