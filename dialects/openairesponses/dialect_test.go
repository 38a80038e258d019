package openairesponses_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/openairesponses"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	dialecttest.Run(t, openairesponses.New())
}

func TestDocument(t *testing.T) {
	t.Parallel()
	d := openairesponses.New()
	item := json.RawMessage(`{"role":"user","content":"a"}`)
	for _, test := range []struct {
		name string
		list dialect.List
		want string
	}{
		{"items", dialect.List{Messages: []json.RawMessage{item}}, `{"input":[{"role":"user","content":"a"}]}`},
		{"none", dialect.List{}, `{"input":[]}`},
		{
			"a text and instructions",
			dialect.List{
				System: []json.RawMessage{json.RawMessage(`"Be kind."`)}, Messages: []json.RawMessage{json.RawMessage(`"Hello"`)},
			},
			`{"input":"Hello","instructions":"Be kind."}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			require.JSONEq(t, test.want, string(d.Document(&test.list)))
		})
	}
}
