package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

func TestWrongProfiles(t *testing.T) {
	for name, test := range map[string]struct{ profile, says string }{
		"no kind":          {"{model: m, api_key_env: K}", "summarizers.p.kind must be openai, anthropic or gemini"},
		"other kind":       {"{kind: azure, model: m, api_key_env: K}", "summarizers.p.kind must be"},
		"no model":         {"{kind: openai, api_key_env: K}", "summarizers.p.model must name the model"},
		"no key":           {"{kind: openai, model: m}", "summarizers.p.api_key_env or api_key_file must say"},
		"gemini's key":     {"{kind: gemini, model: m, base_url: 'http://localhost:1'}", "summarizers.p.api_key_env or api_key_file must say"},
		"two keys":         {"{kind: openai, model: m, api_key_env: K, api_key_file: f}", "summarizers.p.api_key_file excludes api_key_env"},
		"key in the file":  {"{kind: openai, model: m, api_key: " + sample.NotAKey + "}", "summarizers.p.api_key: an API key must not be in this file"},
		"Key in the file":  {"{kind: openai, model: m, API_KEY: " + sample.NotAKey + "}", "summarizers.p.API_KEY: an API key must not be in this file"},
		"unknown key":      {"{kind: openai, model: m, api_key_env: K, mdl: x}", `summarizers.p has no key "mdl" (did you mean model?); there are kind, api, model,`},
		"no mapping":       {sample.NotAKey, "summarizers.p must be a mapping of kind"},
		"api of another":   {"{kind: gemini, model: m, api_key_env: K, api: chat}", "summarizers.p.api goes with kind openai"},
		"other api":        {"{kind: openai, model: m, api_key_env: K, api: assistants}", "summarizers.p.api must be chat or responses"},
		"no number":        {"{kind: openai, model: m, api_key_env: K, context_window: big}", "summarizers.p.context_window must be a whole number"},
		"negative":         {"{kind: openai, model: m, api_key_env: K, context_window: -1}", "summarizers.p.context_window must be a whole number"},
		"small window":     {"{kind: openai, model: m, api_key_env: K, context_window: 3999}", "summarizers.p.context_window must be from 4,000 to 100,000,000"},
		"small output":     {"{kind: openai, model: m, api_key_env: K, max_output_tokens: 255}", "summarizers.p.max_output_tokens must be at least 256"},
		"output of window": {"{kind: openai, model: m, api_key_env: K, context_window: 4000, max_output_tokens: 4000}", "must be less than context_window"},
		"factor":           {"{kind: openai, model: m, api_key_env: K, token_factor: 11}", "summarizers.p.token_factor must be from 0.5 to 10"},
		"limit's name":     {"{kind: openai, model: m, api_key_env: K, token_limit: limit}", "summarizers.p.token_limit must be"},
		"limit of another": {"{kind: gemini, model: m, api_key_env: K, token_limit: max_tokens}", "summarizers.p.token_limit goes with kind openai"},
		"effort":           {"{kind: openai, model: m, api_key_env: K, reasoning_effort: 'very hard'}", "summarizers.p.reasoning_effort must be"},
		"tries":            {"{kind: openai, model: m, api_key_env: K, tries: 11}", "summarizers.p.tries must be from 1 to 10"},
		"no time":          {"{kind: openai, model: m, api_key_env: K, try_timeout: soon}", "summarizers.p.try_timeout must be a time such as 90s"},
		"short try":        {"{kind: openai, model: m, api_key_env: K, try_timeout: 99ms}", "summarizers.p.try_timeout must be from 100ms to 1h"},
		"long total":       {"{kind: openai, model: m, api_key_env: K, total_timeout: 7h}", "summarizers.p.total_timeout must be from 100ms to 6h"},
		"try above total":  {"{kind: openai, model: m, api_key_env: K, try_timeout: 2m, total_timeout: 1m}", "must not be above total_timeout"},
		"idle":             {"{kind: openai, model: m, api_key_env: K, idle_timeout: 10ms}", "summarizers.p.idle_timeout must be from 1s to 1h"},
		"zero window":      {"{kind: openai, model: m, api_key_env: K, context_window: 0}", "summarizers.p.context_window must be from 4,000 to 100,000,000"},
		"zero output":      {"{kind: openai, model: m, api_key_env: K, max_output_tokens: 0}", "summarizers.p.max_output_tokens must be at least 256"},
		"zero factor":      {"{kind: openai, model: m, api_key_env: K, token_factor: 0}", "summarizers.p.token_factor must be from 0.5 to 10"},
		"concurrency":      {"{kind: openai, model: m, api_key_env: K, concurrency: 33}", "summarizers.p.concurrency must be from 1 to 32"},
		"no concurrency":   {"{kind: openai, model: m, api_key_env: K, concurrency: 0}", "summarizers.p.concurrency must be from 1 to 32"},
		"no tries":         {"{kind: openai, model: m, api_key_env: K, tries: 0}", "summarizers.p.tries must be from 1 to 10"},
		"no time to try":   {"{kind: openai, model: m, api_key_env: K, try_timeout: 0s}", "summarizers.p.try_timeout must be from 100ms to 1h"},
		"no time at all":   {"{kind: openai, model: m, api_key_env: K, total_timeout: 0s}", "summarizers.p.total_timeout must be from 100ms to 6h"},
		"no silence":       {"{kind: openai, model: m, api_key_env: K, idle_timeout: 0s}", "summarizers.p.idle_timeout must be from 1s to 1h"},
		"price":            {"{kind: openai, model: m, api_key_env: K, price: {input: -1}}", "summarizers.p.price.input must be from 0"},
		"price's key":      {"{kind: openai, model: m, api_key_env: K, price: {in: 1}}", `summarizers.p.price has no key "in"; there are input, output, cache_read, cache_write`},
		"no price":         {"{kind: openai, model: m, api_key_env: K, price: 3}", "summarizers.p.price must be a mapping"},
		"no address":       {"{kind: openai, model: m, base_url: 'models.example.com'}", "summarizers.p.base_url must be an address"},
		"other scheme":     {"{kind: openai, model: m, base_url: 'ftp://models.example.com'}", "summarizers.p.base_url must be an address"},
		"parameters":       {"{kind: openai, model: m, base_url: 'https://h/v1?key=" + sample.NotAKey + "'}", "summarizers.p.base_url must be an address"},
		"user":             {"{kind: openai, model: m, base_url: 'https://u:" + sample.NotAKey + "@h/v1'}", "summarizers.p.base_url must have no user"},
		"tenants":          {"{kind: openai, model: m, api_key_env: K, allow: {tenants: x}}", "summarizers.p.allow.tenants must be a list of texts"},
		"no tenants":       {"{kind: openai, model: m, api_key_env: K, allow: {tenants: []}}", "summarizers.p.allow.tenants must name a tenant"},
		"tenant's name":    {"{kind: openai, model: m, api_key_env: K, allow: {tenants: ['', A]}}", "summarizers.p.allow.tenants has a name that no tenant can have"},
		"prompt override":  {"{kind: openai, model: m, api_key_env: K, allow: {prompt_override: 1}}", "summarizers.p.allow.prompt_override must be true or false"},
		"allow":            {"{kind: openai, model: m, api_key_env: K, allow: {redact: false}}", `summarizers.p.allow has no key "redact"; there are tenants, prompt_override, unredacted`},
		"daily requests":   {"{kind: openai, model: m, api_key_env: K, daily: {requests: 0}}", "summarizers.p.daily.requests must be at least 1"},
		"daily tokens":     {"{kind: openai, model: m, api_key_env: K, daily: {tokens: -1}}", "summarizers.p.daily.tokens must be a whole number"},
		"daily dollars":    {"{kind: openai, model: m, api_key_env: K, price: {input: 1}, daily: {dollars: 0}}", "summarizers.p.daily.dollars must be more than 0"},
		"no price known":   {"{kind: openai, model: m, api_key_env: K, daily: {dollars: 3}}", "summarizers.p.daily.dollars needs the price of the model"},
		"key in clear":     {"{kind: openai, model: m, base_url: 'http://models.example.com', api_key_env: K}", "summarizers.p.base_url is not https"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("K", sample.NotAKey)
			r := programtest.Ran(t, "serve", "--store", anystore.Place(t), "--config", sample.File(t, "config.yaml", "summarizers: {p: "+test.profile+"}\n")).
				Ends(t, terminal.ExitUsage).Says(t, test.says)
			require.NotContains(t, r.Err, sample.NotAKey)
			require.Equal(t, 1, strings.Count(r.Err, "summarizers"), "one problem: %s", r.Err)
		})
	}
}

func TestWrongNamesOfProfiles(t *testing.T) {
	for name, test := range map[string]struct{ content, says string }{
		"no mapping": {"summarizers: yes", "summarizers must be a mapping of names to models"},
		"a list":     {"summarizers: [a]", "summarizers must be a mapping of names to models"},
		"no name":    {"summarizers: {1st: {}}", `summarizers: "1st" is not a valid name`},
		"long":       {"summarizers: {" + strings.Repeat("a", 65) + ": {}}", "is not a valid name"},
		"extractive": {"summarizers: {extractive: {}}", `the name "extractive" is reserved`},
		"client":     {"summarizers: {client: {}}", `the name "client" is reserved`},
		"twice":      {"summarizers: {a: {}, a: {}}", `"a" already defined`},
		"default":    {"default_summarizer: fast", `config.yaml: default_summarizer: there is no summarizer "fast"; there is only extractive. Models are named under "summarizers"`},
	} {
		t.Run(name, func(t *testing.T) {
			programtest.Ran(t, "serve", "--store", anystore.Place(t), "--config", sample.File(t, "config.yaml", test.content+"\n")).Ends(t, terminal.ExitUsage).Says(t, test.says)
		})
	}
}

// All problems of all profiles are reported at once, and so are all missing keys.
func TestAllProblemsOfProfilesAtOnce(t *testing.T) {
	r := programtest.Ran(t, "serve", "--store", anystore.Place(t), "--config", sample.File(t, "config.yaml", `
overflow: {patterns: [{id: a, pattern: '('}]}
summarizers:
  a: {kind: x, tries: 20, api_key_env: K}
  b: {kind: gemini}
`)).Ends(t, terminal.ExitUsage)
	for _, says := range []string{
		"overflow.patterns[0]", "summarizers.a.kind", "summarizers.a.model", "summarizers.a.tries", "summarizers.b.model",
		"summarizers.b.api_key_env",
	} {
		r.Says(t, says)
	}

	t.Setenv("EMPTY", " \n")
	empty, lines := sample.File(t, "empty", "\n"), sample.File(t, "lines", sample.NotAKey+"\n"+sample.NotAKey+"\n")
	r = programtest.Ran(t, "serve", "--store", anystore.Place(t), "--config", sample.File(t, "config.yaml", fmt.Sprintf(`
summarizers:
  a: {kind: openai, model: m, api_key_env: THERE_IS_NO_SUCH_VARIABLE}
  b: {kind: openai, model: m, api_key_env: EMPTY}
  c: {kind: openai, model: m, api_key_file: %q}
  d: {kind: openai, model: m, api_key_file: %q}
  e: {kind: openai, model: m, api_key_file: %q}
`, empty, lines, empty+".none"))).Ends(t, terminal.ExitUsage)
	for _, says := range []string{
		"summarizers.a.api_key_env: the environment has no variable THERE_IS_NO_SUCH_VARIABLE",
		"summarizers.b.api_key_env: the variable EMPTY is empty",
		"summarizers.c.api_key_file: the file " + empty + " is empty",
		"summarizers.d.api_key_file: the file " + lines + " holds more than one line",
		"summarizers.e.api_key_file: cannot read " + empty + ".none: there is no such file",
	} {
		r.Says(t, says)
	}
	require.NotContains(t, r.Err, sample.NotAKey)
}

// Servers without a key, and servers that may get the key unencrypted.
func TestAddressesOfModels(t *testing.T) {
	for _, profile := range []string{
		"{kind: openai, model: m, base_url: 'http://10.0.0.7:11434/v1'}", "{kind: openai, model: m, base_url: 'http://localhost:1/v1', api_key_env: K}",
		"{kind: anthropic, model: m, base_url: 'http://127.0.0.1:1', api_key_env: K}", "{kind: openai, model: m, base_url: 'https://h/v1', api_key_env: K}",
		"{kind: openai, model: m, base_url: 'http://h/v1', api_key_env: K, allow_http: true}", "{kind: gemini, model: m, api_key_env: K}",
	} {
		t.Setenv("K", sample.NotAKey)
		out := programtest.Ran(t, "summarizers", "--config", sample.File(t, "config.yaml", "summarizers: {p: "+profile+"}\n")).Ends(t, terminal.ExitDone).Out
		require.Contains(t, out, "\np ")
	}
}

// A value in place of the name of a variable or file may be the key itself, so it is not printed.
func TestKeysInPlaceOfNames(t *testing.T) {
	t.Setenv("K", "a")
	const mixed = "aB3dE5gH7jK9mN1pQ3sT5"
	for _, setting := range []string{
		"api_key_env: sk-proj-" + mixed, "api_key_env: gsk_" + mixed, "api_key_env: " + mixed, "api_key_env: 'a b'",
		"api_key_file: sk-proj-" + mixed, "api_key_file: " + mixed,
	} {
		r := programtest.Ran(t, "serve", "--store", anystore.Place(t), "--config", sample.File(t, "config.yaml",
			"summarizers:\n  p: {kind: openai, model: m, "+setting+"}\n")).Ends(t, terminal.ExitUsage)
		r.Says(t, "and not the key")
		require.NotContains(t, r.Err, mixed)
	}
}

func TestOutputOfTheDefaultWindow(t *testing.T) {
	r := programtest.Ran(t, "serve", "--store", anystore.Place(t), "--config", sample.File(t, "config.yaml",
		"summarizers:\n  p: {kind: openai, model: m, api_key_env: K, max_output_tokens: 32000}\n")).Ends(t, terminal.ExitUsage)
	r.Says(t, "max_output_tokens must be less than context_window, which is 32,000 where it is not given")
}
