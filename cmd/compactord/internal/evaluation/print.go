package evaluation

import (
	"fmt"
	"io"
	"math"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// print writes the tables with the meaning of their columns.
func (r *Report) print(w io.Writer) {
	r.printTranscripts(w)
	if len(r.Presets) > 0 {
		r.printCosts(w)
		r.printRecall(w)
	}
	r.printOptimum(w)
	r.printSummaries(w)
	r.printRecorded(w)
	r.printLost(w)
	r.printFailed(w)
}

func (r *Report) printTranscripts(w io.Writer) {
	messages, needed, cuts, with := 0, 0, 0, 0
	for _, t := range r.Transcripts {
		messages += t.Messages
		needed += t.Needed
		cuts += len(t.Cuts)
		if t.Needed > 0 {
			with++
		}
	}
	if len(r.Transcripts) == 1 {
		t := r.Transcripts[0]
		fmt.Fprintf(w, "%s: %s, an estimated %s; the window: %s.\n", terminal.Printable(t.Name),
			terminal.Count(t.Messages, "message"), terminal.Count(t.Tokens, "token"), terminal.Count(t.ContextWindow, "token"))
	} else {
		fmt.Fprintf(w, "%s with %s.\n", terminal.Count(len(r.Transcripts), "transcript"), terminal.Count(messages, "message"))
	}
	switch {
	case needed > 0 && len(r.Transcripts) == 1:
		fmt.Fprintf(w, "Recall is measured at %s, after which the agent needed %s.\n", terminal.Count(cuts, "cut"),
			terminal.Count(needed, "older name"))
	case needed > 0:
		fmt.Fprintf(w, "Recall is measured at %s of %s, after which the agents needed %s.\n", terminal.Count(cuts, "cut"),
			terminal.Count(with, "transcript"), terminal.Count(needed, "older name"))
	default:
		fmt.Fprint(w, "Recall is not measured: no transcript is long enough, or nothing old was needed.\n")
	}
}

// named returns a preset's name, with the summarizer where there are several.
func (r *Report) named(p *Preset) string {
	if len(r.command.Summarizers) > 1 {
		return p.Name + ", " + p.Summarizer
	}
	return p.Name
}

func (r *Report) printCosts(w io.Writer) {
	fmt.Fprintf(w, "\nWhat %s cost, at $%g a million tokens (stored in the cache %g times, from it %g times):\n\n",
		terminal.Count(r.Presets[0].Requests, "request"), r.Prices.Input, r.Prices.CacheWrite, r.Prices.CacheRead)
	largest := 0.0
	for i := range r.Presets {
		largest = max(largest, r.Presets[i].Dollars)
	}
	cost := dollars(largest)
	table := terminal.NewFiguresTable(w, "PRESET", "COST", "OVER BEST", "SENT", "REUSED", "PEAK", "WINDOW", "OVER", "REWRITES", "SUMMARIES")
	for i := range r.Presets {
		p := &r.Presets[i]
		if p.Requests == 0 && len(p.Failed) > 0 {
			table.Aside(r.named(p), p.Failed[0].inRow)
			continue
		}
		table.Row(r.named(p), cost(p.Dollars), signed(p.OverBest), terminal.Number(p.SentTokens),
			terminal.Permille(uint64(p.ReusedTokens), uint64(p.SentTokens)), terminal.Number(p.PeakTokens),
			fmt.Sprintf("%.0f %%", 100*p.PeakShare), terminal.Number(p.OverWindow), terminal.Number(p.Rewrites),
			terminal.Number(p.Compactions))
	}
	table.Flush()
	fmt.Fprint(w, `
COST       US dollars of all requests' input, by the model of the cache
OVER BEST  how much more that is than with compaction at the best times, for views of the same size
SENT       tokens of all requests; REUSED is their share that begins the request before, too
PEAK       tokens of the largest request; WINDOW is its largest share of a window
OVER       requests larger than the window
REWRITES   how often what the model had seen was changed; SUMMARIES of them wrote a summary
`)
	for i := range r.Presets {
		if p := &r.Presets[i]; p.Unreachable > 0 {
			were := "were"
			if p.Unreachable == 1 {
				were = "was"
			}
			terminal.Paragraph(w, fmt.Sprintf("Under %s %s %s above the trigger because of what no compaction can remove.",
				r.named(p), terminal.Count(p.Unreachable, "request"), were), "", "")
		}
	}
}

func (r *Report) printRecall(w io.Writer) {
	if r.Presets[0].Recall == nil {
		return
	}
	fmt.Fprint(w, "\nWhat the views held of the older names that the agent went on to use:\n\n")
	several := len(r.Transcripts) > 1
	head := []string{"PRESET", "HELD", "IN CONTEXT", "CITED", "EITHER", "LOST", "VIEW", "FRONT"}
	if several {
		head = append(head, "HELD IN 95 OF 100")
	}
	table := terminal.NewFiguresTable(w, head...)
	for i := range r.Presets {
		p := &r.Presets[i]
		if p.Recall == nil {
			table.Aside(r.named(p), "-")
			continue
		}
		front := "yes"
		if p.Dominated {
			front = "-"
		}
		c := p.Recall
		row := []string{
			r.named(p), share(c.Held.Mean), share(c.InContext.Mean), share(c.Reachable.Mean), share(c.Kept.Mean),
			terminal.Number(p.LostCount), terminal.Number(int(c.Tokens)), front,
		}
		if several {
			row = append(row, interval(c.Held))
		}
		table.Row(row...)
	}
	table.Flush()
	fmt.Fprint(w, `
HELD        share of the names that occur in the view, as a mean over the transcripts
IN CONTEXT  share of the names that stand in the view beside words from their source
CITED       share of the names whose message the view cites, so that a recall finds them
EITHER      held or cited; LOST is the number of the others
VIEW        mean tokens of the views
FRONT       whether no other preset costs as little and holds as much
`)
	if several {
		fmt.Fprint(w, "The last column has HELD in 95 of 100 samples of as many transcripts.\n")
	}
}

func (r *Report) printOptimum(w io.Writer) {
	o := r.Optimum
	if o == nil {
		return
	}
	largest := o.Dollars
	for _, t := range o.Triggers {
		largest = max(largest, t.Dollars)
	}
	cost := dollars(largest)
	fmt.Fprintf(w, "\nThe least possible cost: $%s with %s, each of which leaves %s.\n", cost(o.Dollars),
		terminal.Count(o.Compactions, "compaction"), terminal.Count(o.LeftTokens, "token"))
	fmt.Fprint(w, "A fixed trigger, as a share of the window:\n\n")
	head, costs, times := []string{"TRIGGER"}, []string{"COST"}, []string{"COMPACTIONS"}
	for _, t := range o.Triggers {
		head = append(head, fmt.Sprintf("%.0f %%", 100*t.Share))
		costs = append(costs, cost(t.Dollars))
		times = append(times, terminal.Number(t.Compactions))
	}
	table := terminal.NewFiguresTable(w, head...)
	table.Row(costs...)
	table.Row(times...)
	table.Flush()
}

func (r *Report) printSummaries(w io.Writer) {
	if len(r.Summaries) == 0 {
		return
	}
	fmt.Fprint(w, "\nWhat texts of a size hold in place of the older messages (held / in context):\n\n")
	head := []string{"WRITER"}
	for _, b := range r.command.Budgets {
		head = append(head, terminal.Number(b)+" TOKENS")
	}
	table := terminal.NewFiguresTable(w, head...)
	perWriter := len(r.command.Budgets)
	for at := 0; at < len(r.Summaries); at += perWriter {
		row := []string{r.Summaries[at].Writer}
		for _, of := range r.Summaries[at : at+perWriter] {
			row = append(row, share(of.Recall.Held.Mean)+" / "+share(of.Recall.InContext.Mean))
		}
		table.Row(row...)
	}
	table.Flush()
	r.printSummarizers(w)
}

// printSummarizers prints more about the summaries than about the baselines.
func (r *Report) printSummarizers(w io.Writer) {
	fmt.Fprint(w, "\nThe summaries:\n\n")
	table := terminal.NewFiguresTable(w, "SUMMARIZER", "TOKENS", "USED", "HELD", "IN 95 OF 100", "IN CONTEXT", "CITED", "ABSENT")
	for _, s := range r.Summaries {
		if s.Baseline {
			continue
		}
		in95 := "-"
		if s.Recall.Transcripts > 1 {
			in95 = interval(s.Recall.Held)
		}
		table.Row(s.Writer, terminal.Number(s.Budget), fmt.Sprintf("%.0f %%", 100*s.Used), share(s.Recall.Held.Mean), in95,
			share(s.Recall.InContext.Mean), share(s.Recall.Reachable.Mean), fmt.Sprintf("%.2f %%", 100*s.Recall.Absent))
	}
	table.Flush()
	fmt.Fprint(w, `
USED    share of the budget that the summaries use
ABSENT  share of the names in the summaries that the older messages do not have
`)
}

// lostPrinted is how many losses of a preset the terminal shows.
const lostPrinted = 3

func (r *Report) printLost(w io.Writer) {
	begun := false
	for i := range r.Presets {
		p := &r.Presets[i]
		if len(p.Lost) == 0 {
			continue
		}
		if !begun {
			fmt.Fprint(w, "\nWhat was lost, for example (in: the message that used it; from: those that had it):\n\n")
			begun = true
		}
		for _, l := range p.Lost[:min(lostPrinted, len(p.Lost))] {
			fmt.Fprintf(w, "  %-12s %-10s %s  in #%d from #%d", r.named(p), l.Kind, terminal.InLine(short(l.Value)), l.UsedAt, l.Sources[0])
			if more := len(l.Sources) - 1; more > 0 {
				fmt.Fprintf(w, " and %d more", more)
			}
			if len(r.Transcripts) > 1 {
				fmt.Fprintf(w, " of %s", terminal.InLine(l.Transcript))
			}
			fmt.Fprintln(w)
		}
	}
}

func (r *Report) printFailed(w io.Writer) {
	begun := false
	for i := range r.Presets {
		for _, f := range r.Presets[i].Failed {
			if !begun {
				fmt.Fprint(w, "\nFailed:\n\n")
				begun = true
			}
			fmt.Fprintf(w, "  %-12s %s: %s\n", r.named(&r.Presets[i]), terminal.InLine(f.Transcript), terminal.Printable(f.Error))
		}
	}
	if len(r.Unread) > 0 {
		fmt.Fprint(w, "\nNot read:\n\n")
		for _, u := range r.Unread {
			fmt.Fprintf(w, "  %s\n", terminal.Printable(u.Error))
		}
	}
}

// short cuts a value that is too long for a line.
func short(value string) string {
	const most = 60
	if runes := []rune(value); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return value
}

// dollars formats amounts of one table alike, with three digits of the largest, and at least whole cents.
func dollars(largest float64) func(amount float64) string {
	const fewest, most = 2, 6
	places := fewest
	for places < most && largest > 0 && largest*math.Pow10(places) < 100 {
		places++
	}
	return func(amount float64) string { return fmt.Sprintf("%.*f", places, amount) }
}

// share formats a share of 1 as recall is usually given.
func share(of float64) string { return fmt.Sprintf("%.2f", of) }

func interval(i Interval) string { return share(i.Low) + "-" + share(i.High) }

// signed formats a difference as a percentage.
func signed(difference *float64) string {
	if difference == nil {
		return "-"
	}
	return fmt.Sprintf("%+.0f %%", 100**difference)
}
