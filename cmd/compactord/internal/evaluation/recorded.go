package evaluation

import (
	"context"
	"fmt"
	"io"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/futurereference"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// recordedAt is a summary that the tool of a transcript wrote, with what the agent needed after it.
type recordedAt struct {
	neededAt
	text string
}

// Recorded is what the summaries in the files hold, or what others of the same sizes would.
type Recorded struct {
	Writer   string  `json:"writer"`
	Baseline bool    `json:"baseline"`
	Recall   *Recall `json:"recall"`
}

// byTheTool is the writer of the summaries in the files.
const byTheTool = "recorded"

// recordedIn returns the summaries in a file after which something was needed.
func recordedIn(read *conversation.Transcript, log *futurereference.Log, horizon int) ([]recordedAt, error) {
	var all []recordedAt
	for _, r := range read.RecordedSummaries() {
		if r.Text == "" || r.FirstKept <= 0 || r.FirstKept > r.Logged || r.Logged >= log.Len() {
			continue
		}
		cut := futurereference.Cut{FirstKept: r.FirstKept, End: r.Logged}
		needs, err := log.Needs(cut, horizon)
		if err != nil {
			return nil, err
		}
		if len(needs) > 0 {
			all = append(all, recordedAt{neededAt{cut, needs}, r.Text})
		}
	}
	return all, nil
}

// recordedJobs score the summaries in the file, and let each writer write texts of the same sizes.
func (e *evaluator) recordedJobs(s *measured) []func(context.Context) error {
	if len(s.recorded) == 0 {
		return nil
	}
	s.beside[byTheTool] = &tally{}
	for _, r := range s.recorded {
		s.beside[byTheTool].add(s.log.Score(r.text, r.Cut, r.needs))
	}
	var jobs []func(context.Context) error
	for _, w := range e.writers() {
		sum := &tally{}
		s.beside[w.name] = sum
		jobs = append(jobs, func(ctx context.Context) error {
			for _, r := range s.recorded {
				budget := max(futurereference.Tokens(r.text), smallestBudget)
				if err := w.judge(ctx, s, []neededAt{r.neededAt}, budget, sum); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return jobs
}

func (r *Report) sumRecorded() {
	writers := (&evaluator{Command: r.command, app: &api.App{}}).writers()
	rows := make([]Recorded, 1, 1+len(writers))
	rows[0].Writer = byTheTool
	for _, w := range writers {
		rows = append(rows, Recorded{Writer: w.name, Baseline: w.baseline})
	}
	for _, row := range rows {
		tallies := make([]*tally, 0, len(r.sessions))
		for _, s := range r.sessions {
			tallies = append(tallies, s.beside[row.Writer])
		}
		if row.Recall = recallOf(tallies); row.Recall != nil {
			r.Recorded = append(r.Recorded, row)
		}
	}
}

func (r *Report) printRecorded(w io.Writer) {
	if len(r.Recorded) == 0 {
		return
	}
	fmt.Fprintf(w, "\nWhat the summaries in the files hold (after %s of %s), and others of the same sizes:\n\n",
		terminal.Count(r.Recorded[0].Recall.Cuts, "compaction"), terminal.Count(r.Recorded[0].Recall.Transcripts, "transcript"))
	table := terminal.NewFiguresTable(w, "WRITER", "TOKENS", "HELD", "IN 95 OF 100", "IN CONTEXT", "ABSENT")
	for _, row := range r.Recorded {
		in95 := "-"
		if row.Recall.Transcripts > 1 {
			in95 = interval(row.Recall.Held)
		}
		table.Row(row.Writer, terminal.Number(int(row.Recall.Tokens)), share(row.Recall.Held.Mean), in95,
			share(row.Recall.InContext.Mean), fmt.Sprintf("%.2f %%", 100*row.Recall.Absent))
	}
	table.Flush()
}
