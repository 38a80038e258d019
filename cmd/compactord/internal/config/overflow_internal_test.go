package config

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestOverflowOfTheFile(t *testing.T) {
	path := sample.File(t, "config.yaml", `
log_level: warn
overflow:
  patterns:
    - {id: ours, pattern: 'Over the limit of \d+'}
    - {id: heavy, pattern: too heavy, class: request_too_large}
  exclusions:
    - {id: busy, pattern: lanes are busy}
    - {id: closed, pattern: closed today, class: other}
`)
	read, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, settings{"log_level": "warn"}, read.Settings)
	require.Equal(t, overflow.Extra{
		Patterns: []overflow.Pattern{
			{ID: "ours", Expression: `Over the limit of \d+`},
			{ID: "heavy", Expression: "too heavy", Class: compactordv1.ErrorClass_ERROR_CLASS_REQUEST_TOO_LARGE},
		},
		Exclusions: []overflow.Pattern{
			{ID: "busy", Expression: "lanes are busy"},
			{ID: "closed", Expression: "closed today", Class: compactordv1.ErrorClass_ERROR_CLASS_OTHER},
		},
	}, read.Overflow)
}
