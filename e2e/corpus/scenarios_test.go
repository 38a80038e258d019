package corpus_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/e2e/corpus"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// Each scenario makes many views smaller.
func TestScenariosChangeViews(t *testing.T) {
	t.Parallel()
	files := corpus.Files(t)
	every := 7
	if testing.Short() {
		every = 21
	}
	for _, scenario := range corpus.Scenarios(t) {
		t.Run(scenario.Name, func(t *testing.T) {
			t.Parallel()
			shorter, views := 0, 0
			for i, file := range files {
				if i%every != 0 {
					continue
				}
				messages := corpus.Read(t, file)
				var lengths []int
				scenario.Run(t, messages, 20, func(v corpus.View) {
					lengths = append(lengths, v.Length)
					views++
					if size(v) < size(corpus.View{Messages: messages[:v.Length]}) {
						shorter++
					}
				})
				require.NotEmpty(t, lengths, filepath.Base(file))
				require.LessOrEqual(t, len(lengths), 20)
				require.Equal(t, len(messages), lengths[len(lengths)-1], "the end was not looked at")
			}
			require.Greater(t, 10*shorter, views, "it hardly does anything")
		})
	}
}

func size(v corpus.View) int {
	counter, err := session.CounterFor(0)
	if err != nil {
		panic(err)
	}
	n := 0
	for _, m := range v.Messages {
		n += int(session.MessageTokens(counter, m))
	}
	return n
}

func TestScenariosCoverStrategiesAndPresets(t *testing.T) {
	t.Parallel()
	var names []string
	for _, scenario := range corpus.Scenarios(t) {
		names = append(names, scenario.Name)
	}
	all := strings.Join(names, " ")
	for _, s := range strategies.Builtin() {
		require.Contains(t, all, s.Name())
	}
	for _, name := range strategies.PresetNames() {
		require.Contains(t, all, name)
	}
}
