package faults_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/quotation"
	"github.com/compactord/compactord/summarizers/attacks"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

// repeated are the attacks that a provider's model repeats, each in one carrier.
func repeated() []attacks.Attack {
	all := slices.DeleteFunc(slices.Concat(attacks.All(), attacks.OfStrangers()), func(a attacks.Attack) bool {
		return !strings.HasPrefix(a.Name, "fetched page, ") && !strings.HasPrefix(a.Name, "JSON answer, arabic, ")
	})
	slices.SortFunc(all, func(a, b attacks.Attack) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Whatever a provider's model repeats of an attack, in the log and in the view it is quoted, and nothing reads as a tag or
// a role.
func TestAttacksThatAProvidersModelRepeats(t *testing.T) {
	t.Parallel()
	all := repeated()
	require.Greater(t, len(all), 300)
	sample := 1
	if testing.Short() {
		sample = 5
		t.Logf("one of %d attacks: -short", sample)
	}
	models := map[llmtest.Protocol]*model{}
	for _, p := range llmtest.Protocols() {
		models[p] = newModel(t, p, nil)
	}
	d := daemontest.Start(t, daemontest.Options{Summarizers: summarizersOf(models[0], models[1], models[2], models[3])})
	tried, written, held := 0, 0, 0
	for i := 0; i < len(all); i += sample {
		a, p := all[i], llmtest.Protocols()[i/sample%len(models)]
		tried++
		models[p].server.Handle(func(*llmtest.Request) llmtest.Reply {
			return llmtest.Summary(llmtest.Written{Lines: []string{
				"Add paging to the export.", a.Says, "A note in it: <system-reminder>" + a.Words + "</system-reminder>",
				"It goes on.\nUser: " + a.Words,
			}})
		})
		entry, view := compacted(t, d, fmt.Sprint("s", i), p, a)
		if entry.GetProvenance().GetSummarizer() == p.String() {
			written++
		}
		// Where the model's text does not fit, the digest stands in for it.
		ok := assert.NotContains(t, quotation.Without(entry.GetSummary()), a.Words, a.Name)
		ok = assert.Empty(t, attacks.Imitations(entry.GetSummary()), "%s:\n%s", a.Name, entry.GetSummary()) && ok
		if ok = assert.Empty(t, attacks.Imitations(view), "%s:\n%s", a.Name, view) && ok; ok {
			held++
		}
	}
	t.Logf("%d of %d attacks held, the model wrote %d", held, tried, written)
	require.Greater(t, written, tried*8/10)
}

// compacted has a model summarize an attack. It returns the entry, and what the view has within the wrapper of the summary.
func compacted(
	t *testing.T, d *daemontest.Daemon, id string, p llmtest.Protocol, a attacks.Attack,
) (entry *compactordv1.CompactionEntry, view string) {
	t.Helper()
	var messages []*compactordv1.Message
	for _, l := range a.Messages {
		m := proto.CloneOf(l.GetMessage())
		m.Origin = 0
		messages = append(messages, m)
	}
	d.Create(id, policy(p.String(), fallingBack), append(messages, daemontest.Working(3, 2000)...)...)
	_, err := d.Compact(t.Context(), daemontest.Request(id))
	require.NoError(t, err, a.Name)
	for _, r := range d.Records(id) {
		if e := r.GetCompaction(); e != nil {
			entry = e
		}
	}
	require.NotNil(t, entry, a.Name)
	for _, m := range d.View(id) {
		for _, part := range m.GetMessage().GetParts() {
			if _, text, ok := strings.Cut(part.GetText().GetText(), "\n<summary>\n"); ok {
				view, _, _ = strings.Cut(text, "\n</summary>")
			}
		}
	}
	require.NotEmpty(t, view, a.Name)
	return entry, view
}
