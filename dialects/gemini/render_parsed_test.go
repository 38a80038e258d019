package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/gemini"
)

func TestOwnListsGoIntoRequests(t *testing.T) {
	t.Parallel()
	for _, own := range []string{
		helloJSON + `,` + model(`{"functionCall":{"name":"ls"}},{"functionCall":{"name":"ls","args":null}}`) +
			`,{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"rows":[1.0]}}},{"functionResponse":{"name":"ls","response":{"result":"b"}}}]}`,
		`{"role":"user","parts":[{"file_data":{"file_uri":"gs://b/a"}},{"inline_data":{"mime_type":"image/png","data":"_-8"}},{"text":"\ud83d","x":null}]}`,
		helloJSON + `,` + model(`{"executableCode":{"code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK"}},{"toolCall":{"id":"1"},"thoughtSignature":"YQ=="}`) + `,` + helloJSON,
		helloJSON + `,` + model(signedLs) + `,` + answerLs + `,` + helloJSON,
	} {
		parsed := parse(t, `[`+own+`]`)
		view := dialecttest.ViewOf(parsed.Messages)
		r := dialecttest.RequireRendered(t, gemini.New(), view)
		requireSame(t, list(t, `[`+own+`]`).Messages, r.Messages)
		require.Empty(t, r.Repairs)
		require.Empty(t, r.Dropped)
	}
}

func TestOwnListsAreRepairedWhereGeminiWouldRefuseThem(t *testing.T) {
	t.Parallel()
	given := `{"role":"user","parts":[{"text":"a","thought_signature":"!"}],"id":"m1"},` +
		model(`{"functionCall":{"id":"1","name":"ls","args":{}},"thoughtSignature":"!","thought":true}`) + `,` +
		`{"role":"function","parts":[{"functionResponse":{"id":"1","name":"other","response":[1]}},{"text":"b"}]}`
	r := dialecttest.RequireRendered(t, gemini.New(), parse(t, `[`+given+`]`).Messages)
	require.JSONEq(t, `{"contents":[{"role":"user","parts":[{"text":"a"}]},`+model(signedLs)+`,
		{"role":"user","parts":[{"functionResponse":{"id":"1","name":"ls","response":{"output":"[1]"}}}]},{"role":"user","parts":[{"text":"b"}]}]}`,
		string(gemini.New().Document(&r.List)))
	var rules []string
	for _, repair := range r.Repairs {
		rules = append(rules, repair.Rule)
	}
	require.Equal(t, []string{
		"gemini.known-fields", "gemini.signatures-are-bytes", "gemini.no-thoughts", "gemini.signatures-are-bytes",
		"gemini.first-call-signed", "gemini.roles", "gemini.response-names", "gemini.responses-are-objects",
		"gemini.responses-alone",
	}, rules)
}
