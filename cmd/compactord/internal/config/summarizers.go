package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// summarizersKey is the key of the file that holds the models.
const summarizersKey = "summarizers"

// BuiltinSummarizer is the summarizer without a model. clientSummarizer is the name in records whose text the client's
// model wrote.
const (
	BuiltinSummarizer = "extractive"
	clientSummarizer  = "client"
)

// profile is a model of the file.
type profile struct {
	name, kind, api, model       string
	baseURL                      string
	allowHTTP                    bool
	keyEnv, keyFile              string
	window, maxOutput            uint32
	tokenFactor                  float64
	tokenLimit                   string
	effort                       string
	tries, concurrency           int
	tryTimeout, totalTimeout     time.Duration
	idleTimeout                  time.Duration
	price                        *compactordv1.TokenPrice
	input, output, read, written *float64
	allowed                      allowed

	// misread says that it has problems. Only its name is known then.
	misread bool
	// key is the API key in use. It can change.
	key atomic.Pointer[secret]
}

// Bounds of the settings of a profile. The bounds of the timeouts are those of a policy.
const (
	minModelWindow = 4000
	maxModelWindow = 100_000_000
	// defaultModelWindow is the window that summarizers/llm assumes where none is given.
	defaultModelWindow = 32_000
	minModelOutput     = 256
	maxModelTries      = 10
	maxConcurrency     = 32
	minModelTimeout    = 100 * time.Millisecond
	maxTryTimeout      = time.Hour
	maxTotalTimeout    = 6 * time.Hour
	minIdleTimeout     = time.Second
	minTokenFactor     = 0.5
	maxTokenFactor     = 10
	maxTokenPrice      = 1_000_000
)

var (
	profileName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)
	})
	// variableName matches names of environment variables.
	variableName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	})
	effortWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)
	})
	// lookalike are keys under which people might put the API key itself.
	lookalike = []string{"api_key", "apikey", "key", "token", "secret", "password"}
)

// readSummarizers reads the setting from its YAML value; nil means none. It reads no API key yet.
func readSummarizers(given any) ([]*profile, error) {
	if given == nil {
		return nil, nil
	}
	node, err := nodeOf(summarizersKey, given)
	if err != nil {
		return nil, err
	}
	if node.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s must be a mapping of names to models", summarizersKey)
	}
	var profiles []*profile
	var problems []error
	pairs := node.Content
	for i := 0; i+1 < len(pairs); i += 2 {
		p := &profile{name: pairs[i].Value}
		wrong := p.decode(pairs[i+1])
		p.misread = len(wrong) > 0
		problems = append(problems, wrong...)
		profiles = append(profiles, p)
	}
	slices.SortFunc(profiles, func(a, b *profile) int { return strings.Compare(a.name, b.name) })
	return profiles, errors.Join(problems...)
}

func (p *profile) path() string { return summarizersKey + "." + p.name }

func (p *profile) decode(node *yaml.Node) []error {
	if !profileName().MatchString(p.name) {
		return []error{fmt.Errorf("%s: %q is not a valid name: write a letter, then up to 63 letters, digits, _, . and -", summarizersKey, p.name)}
	}
	if p.name == BuiltinSummarizer || p.name == clientSummarizer {
		return []error{fmt.Errorf("%s: the name %q is reserved; choose another", summarizersKey, p.name)}
	}
	if problem := p.keyInTheFile(node); problem != nil {
		return []error{problem}
	}
	var price yaml.Node
	problems := decodeSettings(p.path(), node, p.settings(&price))
	problems = append(problems, decodeSettings(p.path()+".price", &price, p.priceSettings())...)
	problems = append(problems, p.allowed.decode(p.path())...)
	if len(problems) > 0 {
		// Checking values that could not be read would only report the same problems again.
		return problems
	}
	return p.check(keysWithValues(node))
}

func (p *profile) settings(price *yaml.Node) []setting {
	return []setting{
		{"kind", &p.kind},
		{"api", &p.api},
		{"model", &p.model},
		{"base_url", public("an address; one with a password is refused", &p.baseURL)},
		{"allow_http", &p.allowHTTP},
		{"api_key_env", public("the name of a variable", &p.keyEnv)},
		{"api_key_file", public("a path", &p.keyFile)},
		{"context_window", &p.window},
		{"max_output_tokens", &p.maxOutput},
		{"token_factor", &p.tokenFactor},
		{"token_limit", public("the name of a field of requests", &p.tokenLimit)},
		{"reasoning_effort", &p.effort},
		{"tries", &p.tries},
		{"concurrency", &p.concurrency},
		{"try_timeout", &p.tryTimeout},
		{"total_timeout", &p.totalTimeout},
		{"idle_timeout", &p.idleTimeout},
		{"price", public("numbers", price)},
		{"allow", &p.allowed.allow},
		{"daily", public("numbers", &p.allowed.daily)},
	}
}

func (p *profile) priceSettings() []setting {
	return []setting{{"input", &p.input}, {"output", &p.output}, {"cache_read", &p.read}, {"cache_write", &p.written}}
}

// keyInTheFile returns an error if the file itself holds an API key: others may read the file, and it may end up in a
// repository.
func (p *profile) keyInTheFile(node *yaml.Node) error {
	for i := 0; node.Kind == yaml.MappingNode && i < len(node.Content); i += 2 {
		if key := node.Content[i].Value; slices.Contains(lookalike, strings.ToLower(key)) {
			return fmt.Errorf("%s.%s: an API key must not be in this file; name the variable that holds it with api_key_env, "+
				"or the file with api_key_file", p.path(), key)
		}
	}
	return nil
}

// keysWithValues returns the keys of a mapping whose values are not empty.
func keysWithValues(node *yaml.Node) map[string]bool {
	keys := make(map[string]bool)
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		if node.Content[i+1].Tag != "!!null" {
			keys[node.Content[i].Value] = true
		}
	}
	return keys
}

// check returns every problem with the settings of a profile. A zero value means the default only if its key was not
// given.
func (p *profile) check(given map[string]bool) []error {
	var problems []error
	check := func(ok bool, key, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("%s.%s %s", p.path(), key, fmt.Sprintf(format, args...)))
		}
	}
	check(slices.Contains(providerKinds, p.kind), "kind", "must be %s, %s or %s", kindOpenAI, kindAnthropic, kindGemini)
	check(p.api == "" || p.kind == kindOpenAI, "api", "goes with kind openai")
	check(slices.Contains([]string{"", "chat", "responses"}, p.api), "api", "must be chat or responses")
	check(p.model != "" && len(p.model) <= 256, "model", "must name the model, in at most 256 bytes")
	check(!given["context_window"] || p.window >= minModelWindow && p.window <= maxModelWindow, "context_window", "must be from %s to %s",
		terminal.Number(minModelWindow), terminal.Number(maxModelWindow))
	check(!given["max_output_tokens"] || p.maxOutput >= minModelOutput, "max_output_tokens", "must be at least %s", terminal.Number(minModelOutput))
	check(p.maxOutput == 0 || p.maxOutput < cmp.Or(p.window, defaultModelWindow), "max_output_tokens",
		"must be less than context_window, which is %s where it is not given", terminal.Number(defaultModelWindow))
	check(!given["token_factor"] || p.tokenFactor >= minTokenFactor && p.tokenFactor <= maxTokenFactor, "token_factor",
		"must be from %v to %v", minTokenFactor, maxTokenFactor)
	check(p.tokenLimit == "" || p.kind == kindOpenAI, "token_limit", "goes with kind openai")
	check(slices.Contains([]string{"", "max_tokens", "max_completion_tokens"}, p.tokenLimit), "token_limit",
		"must be max_tokens or max_completion_tokens")
	check(p.effort == "" || effortWord().MatchString(p.effort), "reasoning_effort", "must be the provider's word for it")
	check(!given["tries"] || p.tries >= 1 && p.tries <= maxModelTries, "tries", "must be from 1 to %d", maxModelTries)
	check(!given["concurrency"] || p.concurrency >= 1 && p.concurrency <= maxConcurrency, "concurrency", "must be from 1 to %d", maxConcurrency)
	p.checkTimes(check, given)
	p.checkAddress(check)
	p.checkPrice(check)
	p.allowed.check(check, p.price != nil)
	return problems
}

type checking func(ok bool, key, format string, args ...any)

func (p *profile) checkTimes(check checking, given map[string]bool) {
	within := func(key string, d, least, most time.Duration) {
		check(!given[key] || d >= least && d <= most, key, "must be from %s to %s", least, most)
	}
	within("try_timeout", p.tryTimeout, minModelTimeout, maxTryTimeout)
	within("total_timeout", p.totalTimeout, minModelTimeout, maxTotalTimeout)
	within("idle_timeout", p.idleTimeout, minIdleTimeout, maxTryTimeout)
	check(!given["total_timeout"] || p.tryTimeout <= p.totalTimeout, "try_timeout", "must not be above total_timeout")
}

func (p *profile) checkAddress(check checking) {
	check(p.keyEnv == "" || variableName().MatchString(p.keyEnv) && !looksLikeKey(p.keyEnv), "api_key_env",
		"must be the name of a variable, and not the key")
	check(!looksLikeKey(p.keyFile), "api_key_file", "must be the path of a file, and not the key")
	check(p.keyEnv == "" || p.keyFile == "", "api_key_file", "excludes api_key_env")
	keyed := p.keyEnv != "" || p.keyFile != ""
	check(keyed || p.baseURL != "" && p.kind != kindGemini, "api_key_env", "or api_key_file must say where the key is; "+
		"only with base_url, and not with kind gemini, may both be missing")
	if p.baseURL == "" {
		return
	}
	u, err := url.Parse(p.baseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		check(false, "base_url", "must be an address such as https://models.example.com/v1, without parameters")
		return
	}
	check(u.User == nil, "base_url", "must have no user and no password; the key comes from api_key_env or api_key_file")
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	check(u.Scheme == "https" || local || !keyed || p.allowHTTP, "base_url",
		"is not https, so the key would travel unencrypted: use https, or accept the risk with allow_http")
}

func (p *profile) checkPrice(check checking) {
	given := false
	value := func(key string, amount *float64) float64 {
		if amount == nil {
			return 0
		}
		given = true
		check(*amount >= 0 && *amount <= maxTokenPrice, "price."+key, "must be from 0 to %s US dollars per million tokens",
			terminal.Number(maxTokenPrice))
		return *amount
	}
	price := &compactordv1.TokenPrice{
		Input: value("input", p.input), Output: value("output", p.output),
		CacheRead: value("cache_read", p.read), CacheWrite: value("cache_write", p.written),
	}
	if given {
		p.price = price
	}
}

// readKey reads the API key from the variable or file that the profile names.
func (p *profile) readKey() error {
	var key secret
	var err error
	switch {
	case p.keyEnv != "":
		if key, err = secretFromEnv(p.keyEnv); err != nil {
			return fmt.Errorf("%s.api_key_env: %w", p.path(), err)
		}
	case p.keyFile != "":
		if key, err = secretFromFile(p.keyFile); err != nil {
			return fmt.Errorf("%s.api_key_file: %w", p.path(), err)
		}
	}
	p.key.Store(&key)
	return nil
}

// currentKey returns the API key for a request; empty where there is none.
func (p *profile) currentKey() string {
	if key := p.key.Load(); key != nil {
		return key.reveal()
	}
	return ""
}

// checkSummarizer returns an error that lists the summarizers if none has this name.
func checkSummarizer(flag, name string, profiles []*profile) error {
	known := make([]string, 0, 1+len(profiles))
	known = append(known, BuiltinSummarizer)
	for _, p := range profiles {
		known = append(known, p.name)
	}
	if slices.Contains(known, name) {
		return nil
	}
	verb := "are"
	if len(known) == 1 {
		verb = "is only"
	}
	return fmt.Errorf("%s: there is no summarizer %q; there %s %s. Models are named under %q in the configuration file",
		flag, name, verb, strings.Join(known, ", "), summarizersKey)
}
