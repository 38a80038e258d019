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
			text := afterAHundredRounds(t, said)
			require.True(t, strings.Contains(text, said) || strings.Contains(text, "The table billing_events is under audit this month, so leave it alone, please."), text)
		})
	}
}

// Twelve rules of a user stay together in a small budget: they come before lines of what the agent did. They are said in
// many ways, and most of them in languages and forms in which nothing marks them as rules.
func TestTwelveConstraintsSurviveAHundredRounds(t *testing.T) {
	t.Parallel()
	rules := []string{
		"Never write to the table billing_events, it is under audit.",
		"By the way, that orders_raw table is off the table, it is under audit.",
		"It would be nice if invoice_lines kept its shape.",
		"The folder legacy_api is under audit this month, so leave it alone, please.",
		"Die Tabelle kunden_stamm bleibt so, wie sie ist, sie wird gerade geprüft.",
		"La table clients_fr reste telle quelle, elle est en cours de vérification.",
		"La tabla tienda_es se queda como está, la están revisando.",
		"A tabela pedidos_br fica como está, estão a rever.",
		"Таблицу clients_ru не трогай, её проверяют.",
		"payments_jp テーブルは監査中なので、そのままにしておいてください。",
		"payments_kr 테이블은 감사 중이니 그대로 두세요.",
		"payments_cn 表正在审计，保持原样。",
	}
	text := afterAHundredRounds(t, rules...)
	for _, rule := range rules {
		require.Contains(t, text, rule)
	}
	require.Contains(t, text, "I changed src/module99/file.go and the tests pass.")
}

// afterAHundredRounds returns the summary after a hundred compactions in a small budget. The user says these sentences at
// the beginning.
func afterAHundredRounds(t *testing.T, said ...string) (text string) {
	t.Helper()
	var c conversation
	c.user("Add paging to the export of the shop, please.")
	c.says("I look at the exporter first.")
	for i, s := range said {
		if i > 0 {
			c.says("Understood.")
		}
		c.user(s)
	}
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
		text = summarize(t, &summarizers.Request{Messages: c.log[from:], Earlier: c.log[:from], PreviousSummary: text, MaxTokens: 600})
	}
	return text
}
