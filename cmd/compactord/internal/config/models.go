package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/anthropic"
	"github.com/compactord/compactord/summarizers/gemini"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/openai"
)

// The kinds of providers.
const (
	kindOpenAI    = "openai"
	kindAnthropic = "anthropic"
	kindGemini    = "gemini"
)

var providerKinds = []string{kindOpenAI, kindAnthropic, kindGemini}

// models returns the summarizers of profiles. It reads all keys and reports all problems at once.
func models(profiles []*profile, extra overflow.Extra) ([]summarizers.Summarizer, error) {
	classifier, err := overflow.New(extra)
	if err != nil {
		return nil, fmt.Errorf("%s.%w", overflowKey, err)
	}
	var all []summarizers.Summarizer
	var problems []error
	for _, p := range profiles {
		if p.misread {
			continue
		}
		if err := p.readKey(); err != nil {
			problems = append(problems, err)
			continue
		}
		provider, err := p.provider(overflows(classifier, p.window))
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", p.path(), err))
			continue
		}
		all = append(all, llm.New(llm.Profile{
			Name: p.name, Kind: p.kind, Model: p.model, Window: p.window, MaxOutput: p.maxOutput, TokenFactor: p.tokenFactor,
			Effort: p.effort, TryTimeout: p.tryTimeout, TotalTimeout: p.totalTimeout, Tries: p.tries, Price: p.price,
			Concurrency: p.concurrency,
		}, provider))
	}
	return all, errors.Join(problems...)
}

func (p *profile) provider(overflow func(status int, code, message string) bool) (llm.Provider, error) {
	switch p.kind {
	case kindOpenAI:
		return openai.New(openai.Options{
			Model: p.model, BaseURL: p.baseURL, Key: p.currentKey, API: openai.API(p.api), TokenLimit: p.tokenLimit,
			IdleTimeout: p.idleTimeout, Overflow: overflow,
		})
	case kindAnthropic:
		return anthropic.New(anthropic.Options{
			Model: p.model, BaseURL: p.baseURL, Key: p.currentKey, IdleTimeout: p.idleTimeout, Overflow: overflow,
		})
	case kindGemini:
		return gemini.New(gemini.Options{
			Model: p.model, BaseURL: p.baseURL, Key: p.currentKey, IdleTimeout: p.idleTimeout, Overflow: overflow,
		})
	default:
		return nil, fmt.Errorf("there is no provider of kind %q", p.kind)
	}
}

// maxErrorText is how many bytes of an error are read, as in ClassifyError.
const maxErrorText = 1 << 20

// overflows returns a function that says whether an error means that a request is too long for the model, by the rules
// of ClassifyError.
func overflows(classifier *overflow.Classifier, window uint32) func(status int, code, message string) bool {
	return func(status int, code, message string) bool {
		text := strings.TrimSpace(code + " " + message)
		request := &compactordv1.ClassifyErrorRequest{HttpStatus: uint32(max(status, 0)), ErrorText: text[:min(len(text), maxErrorText)]}
		return classifier.Classify(request, window).GetOverflow()
	}
}
