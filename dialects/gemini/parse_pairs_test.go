package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResultsFindTheirCallsWithoutIDs(t *testing.T) {
	t.Parallel()
	model := func(calls string) string { return `{"role":"model","parts":[` + calls + `]}` }
	user := func(responses string) string { return `{"role":"user","parts":[` + responses + `]}` }
	for _, c := range []struct {
		name, list string
		ids        []string
		names      []string
		findings   int
	}{
		{
			"by order", model(`{"functionCall":{"name":"a"}},{"functionCall":{"name":"a"}}`) + `,` +
				user(`{"functionResponse":{"name":"a","response":{}}},{"functionResponse":{"name":"a","response":{}}}`),
			[]string{"", ""},
			[]string{"a", "a"},
			0,
		},
		{
			"by name", model(`{"functionCall":{"name":"a"}},{"functionCall":{"name":"b"}}`) + `,` +
				user(`{"functionResponse":{"name":"b","response":{}}},{"functionResponse":{"name":"a","response":{}}}`),
			[]string{"", ""},
			[]string{"a", "b"},
			1,
		},
		{
			"only calls have ids", model(`{"functionCall":{"id":"1","name":"a"}},{"functionCall":{"id":"2","name":"b"}}`) + `,` +
				user(`{"functionResponse":{"name":"b","response":{}}},{"functionResponse":{"name":"a","response":{}}}`),
			[]string{"2", "1"},
			[]string{"b", "a"},
			0,
		},
		{
			"only results have ids", model(`{"functionCall":{"name":"a"}}`) + `,` + user(`{"functionResponse":{"id":"1","name":"a","response":{}}}`),
			[]string{""},
			[]string{"a"},
			0,
		},
		{
			"in two contents", model(`{"functionCall":{"id":"1","name":"a"}},{"functionCall":{"id":"2","name":"a"}}`) + `,` +
				user(`{"functionResponse":{"name":"a","response":{}}}`) + `,` + user(`{"functionResponse":{"name":"a","response":{}}}`),
			[]string{"1", "2"},
			[]string{"a", "a"},
			0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			parsed := parse(t, `[`+c.list+`]`)
			var ids, names []string
			for _, m := range parsed.Messages[1:] {
				ids = append(ids, m.GetParts()[0].GetToolResult().GetCallId())
				names = append(names, m.GetParts()[0].GetToolResult().GetName())
			}
			require.Equal(t, c.ids, ids)
			require.Equal(t, c.names, names)
			require.Len(t, parsed.Findings, c.findings)
			requireWritten(t, list(t, `[`+c.list+`]`), parsed.Messages)
		})
	}
}
