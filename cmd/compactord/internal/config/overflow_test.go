package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

func TestWrongOverflowOfTheFile(t *testing.T) {
	for name, test := range map[string]struct{ content, says string }{
		"no mapping":        {"overflow: yes\n", "overflow must hold patterns and exclusions"},
		"a list":            {"overflow: [a]\n", "overflow must hold patterns and exclusions"},
		"unknown list":      {"overflow: {rules: []}\n", "field rules not found"},
		"unknown key":       {"overflow: {patterns: [{id: a, pattern: x, regex: y}]}\n", "field regex not found"},
		"no such class":     {"overflow: {patterns: [{id: a, pattern: x, class: big}]}\n", `overflow.patterns[0]: id "a": there is no class "big"`},
		"class in capitals": {"overflow: {patterns: [{id: a, pattern: x, class: OTHER}]}\n", `there is no class "OTHER"`},
		"no class at all":   {"overflow: {patterns: [{id: a, pattern: x, class: unspecified}]}\n", `there is no class "unspecified"`},
		"other list's":      {"overflow: {exclusions: [{id: a, pattern: x, class: context_overflow}]}\n", `overflow.exclusions[0]: id "a": this list has no class`},
		"bad expression":    {"overflow: {patterns: [{id: a, pattern: x}, {id: b, pattern: '('}]}\n", `overflow.patterns[1]: id "b": pattern is no RE2 expression`},
		"twice":             {"overflow: {patterns: [{id: a, pattern: x}, {id: a, pattern: y}]}\n", `overflow.patterns[1]: id "a" is in use`},
	} {
		t.Run(name, func(t *testing.T) {
			programtest.Ran(t, "serve", "--store", anystore.Place(t), "--config", sample.File(t, "config.yaml", test.content)).
				Ends(t, terminal.ExitUsage).Says(t, test.says)
		})
	}
}

// The daemon uses the patterns of the file.
func TestOverflowOfTheFileIsServed(t *testing.T) {
	path := sample.File(t, "config.yaml", "overflow: {patterns: [{id: ours, pattern: 'over the brim of (?P<limit>\\d+)'}]}\n")
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--config", path)
	answer := programtest.Ran(t, "classify", "--addr", d.Addr, "--text", "The cup is OVER the brim of 700").Ends(t, terminal.ExitDone)
	sample.Contains(t, answer.Out, "ours: ")
	sample.Contains(t, answer.Out, "  Limit       700 tokens\n")
	require.Equal(t, terminal.ExitDone, d.Stop())
}
