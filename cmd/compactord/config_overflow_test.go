package main

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestOverflowOfTheFile(t *testing.T) {
	path := file(t, "config.yaml", `
log_level: warn
overflow:
  patterns:
    - {id: ours, pattern: 'Over the limit of \d+'}
    - {id: heavy, pattern: too heavy, class: request_too_large}
  exclusions:
    - {id: busy, pattern: lanes are busy}
    - {id: closed, pattern: closed today, class: other}
`)
	cli := &commands{}
	parser, err := kong.New(cli, variables(), kong.Vars{"default_store": "/var/lib/x.db"})
	require.NoError(t, err)
	_, err = parser.Parse([]string{"serve", "--config", path})
	require.NoError(t, err)
	require.Equal(t, "warn", cli.Serve.LogLevel)
	require.Equal(t, overflow.Extra{
		Patterns: []overflow.Pattern{
			{ID: "ours", Expression: `Over the limit of \d+`},
			{ID: "heavy", Expression: "too heavy", Class: compactordv1.ErrorClass_ERROR_CLASS_REQUEST_TOO_LARGE},
		},
		Exclusions: []overflow.Pattern{
			{ID: "busy", Expression: "lanes are busy"},
			{ID: "closed", Expression: "closed today", Class: compactordv1.ErrorClass_ERROR_CLASS_OTHER},
		},
	}, cli.Serve.file.overflow)
}

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
			ran(t, "serve", "--store", storePath(t), "--config", file(t, "config.yaml", test.content)).
				ends(t, exitUsage).says(t, test.says)
		})
	}
}

// What the file adds reaches the daemon.
func TestOverflowOfTheFileIsServed(t *testing.T) {
	path := file(t, "config.yaml", "overflow: {patterns: [{id: ours, pattern: 'over the brim of (?P<limit>\\d+)'}]}\n")
	d := serving(t, "--listen", "127.0.0.1:0", "--store", storePath(t), "--config", path)
	answer := ran(t, "classify", "--addr", d.addr, "--text", "The cup is OVER the brim of 700").ends(t, exitDone)
	contains(t, answer.out, "ours: ")
	contains(t, answer.out, "  Limit       700 tokens\n")
	require.Equal(t, exitDone, d.stop())
}
