package sdkcheck_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/sdkcheck"
)

const (
	chat      = compactordv1.Dialect_DIALECT_OPENAI_CHAT
	responses = compactordv1.Dialect_DIALECT_OPENAI_RESPONSES
	anthropic = compactordv1.Dialect_DIALECT_ANTHROPIC
	gemini    = compactordv1.Dialect_DIALECT_GEMINI
)

func TestCheckTakesWhatTheProvidersDocument(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind    compactordv1.Dialect
		element string
	}{
		"chat text":        {chat, `{"role":"user","content":"Hello"}`},
		"chat parts":       {chat, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}}]}`},
		"chat calls":       {chat, `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}`},
		"chat result":      {chat, `{"role":"tool","tool_call_id":"a","content":"ok"}`},
		"chat refusal":     {chat, `{"role":"assistant","refusal":"No."}`},
		"responses easy":   {responses, `{"role":"user","content":"Hello"}`},
		"responses output": {responses, `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello","annotations":[]}]}`},
		"responses call":   {responses, `{"type":"function_call","call_id":"a","name":"read","arguments":"{}"}`},
		"responses result": {responses, `{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"ok"}]}`},
		"responses reason": {responses, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"Z2VoZWlt"}`},
		"anthropic text":   {anthropic, `{"role":"user","content":[{"type":"text","text":"Hello","cache_control":{"type":"ephemeral"}}]}`},
		"anthropic think":  {anthropic, `{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln"},{"type":"tool_use","id":"a","name":"read","input":{"n":1.5}}]}`},
		"anthropic result": {anthropic, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"ok"}]}]}`},
		"gemini text":      {gemini, `{"role":"user","parts":[{"text":"Hello"}]}`},
		"gemini call":      {gemini, `{"role":"model","parts":[{"functionCall":{"id":"a","name":"read","args":{"n":1}},"thoughtSignature":"c2ln"}]}`},
		"gemini result":    {gemini, `{"role":"user","parts":[{"functionResponse":{"id":"a","name":"read","response":{"output":"ok"}}}]}`},
		"gemini media":     {gemini, `{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AQID"}}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, sdkcheck.Check(c.kind, listOf(c.element)))
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind    compactordv1.Dialect
		element string
	}{
		"no object":                  {chat, `"Hello"`},
		"an unknown role":            {chat, `{"role":"robot","content":"Hello"}`},
		"a field of another kind":    {chat, `{"role":"tool","tool_call_id":7,"content":"ok"}`},
		"a field of another message": {chat, `{"role":"user","content":"Hello","tool_call_id":"a"}`},
		"an unknown item":            {responses, `{"type":"thought","text":"Hello"}`},
		"an item's lost field":       {responses, `{"type":"function_call","call_id":"a","name":"read","arguments":"{}","output":"x"}`},
		"an unknown block":           {anthropic, `{"role":"user","content":[{"type":"picture"}]}`},
		"a block's lost field":       {anthropic, `{"role":"user","content":[{"type":"text","text":"Hello","name":"x"}]}`},
		"an unknown part":            {gemini, `{"role":"user","parts":[{"words":"Hello"}]}`},
		"data that is not base64":    {gemini, `{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"*"}}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Error(t, sdkcheck.Check(c.kind, listOf(c.element)))
		})
	}
}

func listOf(element string) *dialect.List {
	return &dialect.List{Messages: []json.RawMessage{json.RawMessage(element)}}
}
