package service_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// In a replay of a day's work with a plan that changes with every turn, a plan in place LATEST costs no request more than
// itself and the newest turn. -v says what each place costs: docs/cost.md has the figures.
func TestCostOfABlockThatChangesWithEveryTurn(t *testing.T) {
	t.Parallel()
	for _, place := range []compactordv1.BlockPlace{
		compactordv1.BlockPlace_BLOCK_PLACE_UNSPECIFIED,
		compactordv1.BlockPlace_BLOCK_PLACE_LATEST,
		compactordv1.BlockPlace_BLOCK_PLACE_LEADING,
	} {
		t.Run(place.String(), func(t *testing.T) {
			t.Parallel()
			requests := replayWithPlan(t, place)
			var read, written int
			for i, now := range requests {
				if i == 0 {
					written += len(strings.Join(now, ""))
					continue
				}
				same := samePrefix(requests[i-1], now)
				lost := len(strings.Join(requests[i-1][same:], ""))
				if place != compactordv1.BlockPlace_BLOCK_PLACE_LEADING {
					require.LessOrEqual(t, lost, newestTurnWithPlan(requests[i-1]), "request %d", i)
				}
				read += len(strings.Join(now[:same], ""))
				written += len(strings.Join(now[same:], ""))
			}
			tokens := func(chars int) int { return chars / 4 / len(requests) }
			t.Logf("%d requests; tokens a request: read from the cache %d, written %d, input %.0f",
				len(requests), tokens(read), tokens(written), 0.1*float64(tokens(read))+1.25*float64(tokens(written)))
		})
	}
}

// replayWithPlan returns the requests of the transcript of the examples: the views before each answer. In a place, each
// turn begins with a new plan of some 250 tokens.
func replayWithPlan(t *testing.T, place compactordv1.BlockPlace) [][]string {
	t.Helper()
	d := start(t)
	d.create("s", nil)
	content, err := os.ReadFile("../examples/transcript/session.jsonl")
	require.NoError(t, err)
	var requests [][]string
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, len(content))
	for turn := 0; lines.Scan(); {
		var message struct{ Role string }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &message))
		switch {
		case message.Role == "user" && place != compactordv1.BlockPlace_BLOCK_PLACE_UNSPECIFIED:
			turn++
			plan := strings.Repeat(fmt.Sprintf("Step %d of the plan.\n", turn), 50)
			d.setBlock("s", &compactordv1.ContextBlock{Name: "plan", Place: place, Parts: []*compactordv1.Part{textPart(plan)}})
		case message.Role == "assistant":
			view, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
				Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"},
				Dialect: compactordv1.Dialect_DIALECT_OPENAI_CHAT,
			})
			require.NoError(t, err)
			requests = append(requests, view.GetMessagesJson())
		}
		_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
			SessionId: "s",
			ProviderJson: &compactordv1.ProviderJson{
				Dialect: compactordv1.Dialect_DIALECT_OPENAI_CHAT, Json: lines.Text(),
			},
		})
		require.NoError(t, err)
	}
	require.NoError(t, lines.Err())
	require.Greater(t, len(requests), 100)
	return requests
}

// samePrefix returns how many messages two requests have in common from their beginning.
func samePrefix(before, now []string) int {
	same := 0
	for same < min(len(before), len(now)) && before[same] == now[same] {
		same++
	}
	return same
}

// newestTurnWithPlan returns the characters of the plan and of the messages from the newest request of the user on.
func newestTurnWithPlan(request []string) int {
	total := 0
	for i := len(request) - 1; i >= 0; i-- {
		total += len(request[i])
		if strings.HasPrefix(request[i], `{"role":"user"`) {
			if i > 0 && strings.Contains(request[i-1], `<context_block name=\"plan\">`) {
				total += len(request[i-1])
			}
			return total
		}
	}
	return total
}
