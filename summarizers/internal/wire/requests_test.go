package wire_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/anthropic"
	"github.com/compactord/compactord/summarizers/gemini"
	"github.com/compactord/compactord/summarizers/internal/wire/wiretest"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/openai"
)

var update = flag.Bool("update", false, "write the golden file anew")

// sent is a request in the form in which it is compared: the order of an object's members does not matter.
type sent struct {
	Name, Method, Path, Query string
	Header                    map[string]string
	Body                      any
}

// asking makes a provider for a server with these options.
type asking struct {
	name     string
	provider func(s *wiretest.Server) (llm.Provider, error)
	// isVariant says that only its address and headers differ from another, and not its body.
	isVariant bool
}

func askings() []asking {
	var all []asking
	of := func(isVariant bool, name string, provider func(s *wiretest.Server) (llm.Provider, error)) {
		all = append(all, asking{name, provider, isVariant})
	}
	for _, base := range []string{"", "/", "/v1", "/proxy/v1/"} {
		for _, key := range []string{"", wiretest.Key} {
			variant, name := base != "" || key != "", " at "+base+" keyed "+key
			of(variant, "anthropic"+name, func(s *wiretest.Server) (llm.Provider, error) {
				return anthropic.New(anthropic.Options{Model: "model-1", BaseURL: s.URL + base, APIKey: key, HTTPClient: s.Client()})
			})
			for _, api := range []openai.API{openai.APIChat, openai.APIResponses} {
				for _, limit := range []string{"", openai.MaxTokens, openai.MaxCompletionTokens} {
					of(variant, "openai "+string(api)+" limited by "+limit+name, func(s *wiretest.Server) (llm.Provider, error) {
						return openai.New(openai.Options{
							Model: "vendor/model-1", BaseURL: s.URL + base, APIKey: key, API: api, TokenLimit: limit, HTTPClient: s.Client(),
						})
					})
				}
			}
		}
	}
	for _, base := range []string{"", "/", "/v1", "/v1beta/", "/proxy/v1alpha"} {
		for _, model := range []string{"model-1", "models/model-1", "tunedModels/mine"} {
			of(base != "" || model != "model-1", "gemini "+model+" at "+base, func(s *wiretest.Server) (llm.Provider, error) {
				return gemini.New(gemini.Options{Model: model, BaseURL: s.URL + base, APIKey: wiretest.Key, HTTPClient: s.Client()})
			})
		}
	}
	return all
}

func completions() map[string]*llm.Completion {
	return map[string]*llm.Completion{
		"all":        {System: "Be <short> & \"kind\".", User: "Hi &\n日本 \u2028 bye", MaxOutputTokens: 7777, Effort: "low"},
		"least":      {User: "Hi"},
		"budget":     {User: "Hi", MaxOutputTokens: 7777, Effort: "2000"},
		"no budget":  {User: "Hi", MaxOutputTokens: 7777, Effort: "0"},
		"any budget": {User: "Hi", MaxOutputTokens: 7777, Effort: "-1"},
		"most":       {User: "Hi", MaxOutputTokens: 1<<32 - 1, Effort: "HIGH"},
		"no UTF-8":   {User: "a\xffb"},
		"on a view":  {User: "Hi", MaxOutputTokens: 7777, Effort: "2000", View: &summarizers.View{}},
	}
}

// Each provider sends the recorded requests, with all its options.
func TestRequestsAreWhatTheyWere(t *testing.T) {
	t.Parallel()
	var all []sent
	for _, a := range askings() {
		for name, c := range completions() {
			if a.isVariant && name != "all" {
				continue
			}
			server := wiretest.Serve(t, wiretest.Answer(http.StatusBadRequest, "application/json", `{}`))
			p, err := a.provider(server)
			require.NoError(t, err)
			_, _ = wiretest.Ask(t, p, c)
			require.Len(t, server.Seen(), 1)
			all = append(all, sentOf(t, a.name+": "+name, server.Seen()[0]))
		}
	}
	slices.SortFunc(all, func(a, b sent) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetEscapeHTML(false)
	for _, one := range all {
		require.NoError(t, encoder.Encode(one))
	}
	const golden = "testdata/requests.jsonl"
	if *update {
		require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	wants, gots := bytes.Split(want, []byte("\n")), bytes.Split(got.Bytes(), []byte("\n"))
	require.Len(t, gots, len(wants))
	for i := range wants {
		require.Equal(t, string(wants[i]), string(gots[i]))
	}
}

func sentOf(t *testing.T, name string, r wiretest.Request) sent {
	t.Helper()
	one := sent{Name: name, Method: r.Method, Path: r.Path, Query: r.Query, Header: make(map[string]string)}
	for key, values := range r.Header {
		require.Len(t, values, 1, key)
		one.Header[key] = values[0]
	}
	delete(one.Header, "Content-Length")
	require.NoError(t, json.Unmarshal([]byte(r.Body), &one.Body))
	return one
}
