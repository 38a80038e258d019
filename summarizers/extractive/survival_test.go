package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// What the user asks for once survives a hundred compactions in a small budget, however it is said: firmly, softly,
// within a longer message, and in languages without cues.
func TestConstraintsSurviveAHundredRounds(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"firm":     "Never write to the table billing_events, it is under audit.",
		"soft":     "By the way, that billing_events table is off the table, it is under audit.",
		"wish":     "It would be nice if billing_events kept its shape.",
		"buried":   "Thanks, the importer looks fine to me now. The table billing_events is under audit this month, so leave it alone, please. How far are you with the pager?",
		"German":   "Die Tabelle billing_events bleibt so, wie sie ist, sie wird gerade geprüft.",
		"French":   "La table billing_events reste telle quelle, elle est en cours de vérification.",
		"Spanish":  "La tabla billing_events se queda como está, la están revisando.",
		"Japanese": "billing_events テーブルは監査中なので、そのままにしておいてください。",
		"Korean":   "billing_events 테이블은 감사 중이니 그대로 두세요.",
		"Chinese":  "billing_events 表正在审计，保持原样。",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := ""
			var c conversation
			c.user("Add paging to the export of the shop, please.")
			c.says("I look at the exporter first.")
			c.user(said)
			for round := range 100 {
				from := len(c.log)
				if round > 0 {
					c.user([]string{"go on", "Fix the next failing test.", "What does the log say?", fmt.Sprintf("Now look at the module number %d.", round)}[round%4])
				} else {
					from = 0
				}
				path := fmt.Sprintf("src/module%d/file.go", round)
				c.tool("read", `{"path":"`+path+`"}`, "package module\n\nfunc handle(rows []Row) error { return nil }\n", false)
				c.tool("bash", `{"command":"go test ./src/..."}`, "ok\tsrc/module\t0.3s", false)
				c.says("I changed " + path + " and the tests pass.")
				text = summarize(t, &summarizers.Request{Messages: c.log[from:], PreviousSummary: text, MaxTokens: 600})
			}
			require.True(t, strings.Contains(text, said) || strings.Contains(text, "The table billing_events is under audit this month, so leave it alone, please."), text)
		})
	}
}
