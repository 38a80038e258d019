package transcript

import (
	"errors"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errMoreCached = errors.New("is more than the whole prompt")

// openAIUsage reads the tokens that were reported. Two shapes are in use: with input_tokens, which leaves out what came
// from a cache, and OpenAI's own with prompt_tokens, which includes it.
func openAIUsage(o rawjson.Object) (*compactordv1.Usage, error) {
	u, err := o.Sub("usage")
	if err != nil || u == nil {
		return nil, err
	}
	usage := &compactordv1.Usage{}
	if u.Has("prompt_tokens") {
		err = promptUsage(usage, u)
	} else {
		err = inputUsage(usage, u)
	}
	if err == nil {
		usage.TotalTokens, err = u.Count("total_tokens")
	}
	return usage, rawjson.In("usage", err)
}

func inputUsage(usage *compactordv1.Usage, u rawjson.Object) error {
	return counts(u,
		countField{"input_tokens", &usage.InputTokens},
		countField{"output_tokens", &usage.OutputTokens},
		countField{"cache_read_tokens", &usage.CacheReadTokens},
		countField{"cache_write_tokens", &usage.CacheWriteTokens},
	)
}

func promptUsage(usage *compactordv1.Usage, u rawjson.Object) error {
	err := counts(u,
		countField{"prompt_tokens", &usage.InputTokens},
		countField{"completion_tokens", &usage.OutputTokens},
	)
	if err != nil {
		return err
	}
	details, err := u.Sub("prompt_tokens_details")
	if err != nil {
		return err
	}
	if err := counts(details, countField{"cached_tokens", &usage.CacheReadTokens}); err != nil {
		return rawjson.In("prompt_tokens_details", err)
	}
	if usage.GetCacheReadTokens() > usage.GetInputTokens() {
		return rawjson.In("prompt_tokens_details", rawjson.In("cached_tokens", errMoreCached))
	}
	usage.InputTokens -= usage.GetCacheReadTokens()
	return nil
}

// countField is a field that holds a count, and where the count goes.
type countField struct {
	key  string
	into *uint32
}

func counts(o rawjson.Object, fields ...countField) error {
	for _, f := range fields {
		var err error
		if *f.into, err = o.Count(f.key); err != nil {
			return err
		}
	}
	return nil
}
