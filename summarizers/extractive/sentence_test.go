package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/extractive"
)

// A full stop ends a sentence, unless it belongs to an abbreviation, a number or a date.
func TestSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"It works. Ship it!":                              {"It works.", "Ship it!"},
		"Gehen Sie zu Nr. 5 in der Hauptgasse. Danke.":    {"Gehen Sie zu Nr. 5 in der Hauptgasse.", "Danke."},
		"El cliente es Talleres Ibarra S.A. y paga tarde": {"El cliente es Talleres Ibarra S.A. y paga tarde"},
		"Talleres Ibarra S.L. Madrid paga tarde":          {"Talleres Ibarra S.L. Madrid paga tarde"},
		"Talleres Ibarra S.A. (10442, el primero) paga":   {"Talleres Ibarra S.A. (10442, el primero) paga"},
		"The shop of Mr. Abel is shut. Try Prof. Lim.":    {"The shop of Mr. Abel is shut.", "Try Prof. Lim."},
		"Zurück am 22.4. um 15:12. Das passt.":            {"Zurück am 22.4. um 15:12.", "Das passt."},
		"Sie fährt am 14./15. Mai. Danach nicht.":         {"Sie fährt am 14./15. Mai.", "Danach nicht."},
		"Vom 1.–21. Juni ist zu. Danke.":                  {"Vom 1.–21. Juni ist zu.", "Danke."},
		"Wir liefern am **14. Oktober** aus. Danke.":      {"Wir liefern am **14. Oktober** aus.", "Danke."},
		"Use v1/2.3. Then see main.go.":                   {"Use v1/2.3.", "Then see main.go."},
		"We meet at 9 a.m. Then we eat.":                  {"We meet at 9 a.m.", "Then we eat."},
		"We meet at 9 a.m. on Monday.":                    {"We meet at 9 a.m. on Monday."},
		"Is it free? No. It costs 5.":                     {"Is it free?", "No.", "It costs 5."},
		"Take the file with No. 7 first. Go.":             {"Take the file with No. 7 first.", "Go."},
		"Use v1.2. Then see main.go. Done.":               {"Use v1.2.", "Then see main.go.", "Done."},
		"それは簡単です。次へ進む。":                                   {"それは簡単です。", "次へ進む。"},
	} {
		require.Equal(t, want, extractive.Sentences(text), text)
	}
}

// A date at the beginning of a wrapped line was an item of a list, and lost its day.
func TestAWrappedDateKeepsItsDay(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Baue den Fahrplan der Fähren, mit einer Seite für jeden Hafen.")
	c.says("Fertig.")
	c.user("Bitte den Fahrplan neu schreiben. Der Termin ist der\n14. Oktober im Rathaus, und niemals am\n21. Oktober. Danke.")
	text := onOneLine(c.summary(t, ""))
	require.Equal(t, strings.Count(text, "Oktober im"), strings.Count(text, "14. Oktober im"), text)
}
