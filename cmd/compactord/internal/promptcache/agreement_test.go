package promptcache_test

import (
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/promptcache"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
)

//go:embed testdata/agreement.py
var agreement string

// toolTotals are Totals as the measuring tools print them.
type toolTotals struct {
	Requests int     `json:"requests"`
	Sent     int     `json:"tokens_sent"`
	Read     int     `json:"tokens_read"`
	Written  int     `json:"tokens_written"`
	Plain    int     `json:"tokens_plain"`
	Peak     int     `json:"peak_tokens"`
	Dollars  float64 `json:"dollars"`
	Uncached float64 `json:"dollars_uncached"`
}

// recordedSession is a session as the measuring tools see it.
type recordedSession struct {
	Roles  []string              `json:"roles"`
	Stable int                   `json:"stable"`
	Shown  []string              `json:"shown"`
	Hidden []string              `json:"hidden"`
	Totals map[string]toolTotals `json:"totals"`
}

func TestCostsAgreeWithTheMeasuringTools(t *testing.T) {
	t.Parallel()
	tools := sample.MeasuringTools(t)
	corpus := sample.Corpus(t)
	for _, path := range []string{
		filepath.Join("..", "..", "..", "..", "examples", "transcript", "session.jsonl"),
		filepath.Join(corpus, "kimi-cli-14a06f45.jsonl"), filepath.Join(corpus, "entire-cli-163396cf.jsonl"),
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "python3", "-c", agreement, tools, path)
			cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
			out, err := cmd.Output()
			require.NoError(t, err)
			var session recordedSession
			require.NoError(t, json.Unmarshal(out, &session))
			for name, want := range session.Totals {
				model, shown, _ := strings.Cut(name, " ")
				have := session.total(promptcache.Model(model), shown == "masked")
				require.InDelta(t, want.Dollars, have.Dollars, 1e-9, name)
				require.InDelta(t, want.Uncached, have.Uncached, 1e-9, name)
				want.Dollars, want.Uncached = have.Dollars, have.Uncached
				require.Equal(t, want, toolTotals(have), name)
				require.Positive(t, have.Read)
			}
		})
	}
}

// total sends what the session sent before each answer. Masked shows the last five results alone.
func (s *recordedSession) total(model promptcache.Model, masked bool) promptcache.Totals {
	prices := promptcache.DefaultPrices()
	simulation := promptcache.NewSimulation(model, prices)
	var sum promptcache.Totals
	for answer, role := range s.Roles {
		if role != "assistant" || answer == 0 {
			continue
		}
		r := promptcache.Request{Stable: s.Stable, Blocks: make([]promptcache.Block, answer)}
		r.At = time.Unix(0, 0).Add(17 * time.Second * time.Duration(sum.Requests*(sum.Requests%7)))
		results := 0
		for i := answer - 1; i >= 0; i-- {
			text := s.Shown[i]
			if s.Roles[i] == "tool" {
				if results++; masked && results > 5 {
					text = s.Hidden[i]
				}
			}
			r.Blocks[i] = promptcache.TextBlock(text)
		}
		sum.Add(simulation.Send(r), prices)
	}
	return sum
}
