package overflow

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// number is one with or without separators of thousands.
const number = `(\d{1,3}(?:[,_]\d{3})+|\d{1,12})`

// figure is a wording that holds figures, with which of its groups are which.
type figure struct {
	pattern func() *regexp.Regexp
	// requested are groups that are added up; limit is one group. 0 is none.
	requested []int
	limit     int
}

func reads(pattern string, limit int, requested ...int) figure {
	return figure{
		pattern: sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(strings.ReplaceAll(pattern, "N", number))
		}),
		requested: requested, limit: limit,
	}
}

// figures are read in this order; the first that holds one gives it. Those that hold both come first.
var figures = []figure{
	reads(`prompt is too long: N tokens? > N`, 2, 1),
	reads(`exceed context limit: N \+ N > N`, 3, 1, 2),
	reads(`input token count \(?N\)? exceeds the maximum number of tokens allowed \(?N`, 2, 1),
	reads(`maximum prompt length is N but the request contains N`, 1, 2),
	reads(`prompt token count of N exceeds the limit of N`, 2, 1),
	reads(`request \(N tokens\) exceeds the available context size \(N`, 2, 1),
	reads(`prompt contains N tokens[^\n]{0,100}too large for model with N maximum context`, 2, 1),
	reads(`exceeded model token limit: N \(requested: N`, 1, 2),
	reads(`input \(N tokens\) is longer than the model.?s context length \(N`, 2, 1),
	reads(`must be <= N\. given: N`, 1, 2),
	reads(`max input length is N tokens, but you supplied N`, 1, 2),
	reads(`requested tokens \(N\) exceed context window of N`, 2, 1),
	reads(`input token count is N but (?:the )?model only supports up to N`, 2, 1),
	reads(`must have less than N tokens\. given: N`, 1, 2),
	reads(`input length N exceeds (?:the )?(?:model.?s )?context length N`, 2, 1),
	reads(`input length N exceeds maximum input length N`, 2, 1),
	reads(`tokens \(N\) exceeded this model context window limit \(N\)`, 2, 1),
	reads(`max input tokens: N, request input token count: N`, 1, 2),
	reads(`number of input tokens N cannot exceed the total tokens limit N`, 2, 1),
	reads(`prompt \(length N\) is longer than the maximum model length of N`, 2, 1),
	reads(`length N \+ (?:max_tokens )?N is greater than (?:cache_size|max_seq_len) N`, 3, 1, 2),
	reads(`length N is greater than max_seq_len N`, 2, 1),
	reads(`prompt is too long: N, model maximum context length: N`, 2, 1),
	reads(`current length is N while limit is N`, 2, 1),
	// Of output that is asked for beside the input, the whole is what is over the limit.
	reads(`is too large: N\. this model.?s maximum context length is N tokens and your request has N input tokens`, 2, 1, 3),
	reads(`maximum context length is N[^\n]{0,60}your request has N input tokens plus N`, 1, 2, 3),
	reads(`\blimit:? N,(?: used:? \d+,)? requested:? N`, 1, 2),
	// A total comes before the parts that it is of.
	reads(`for a total of (?:at least )?N tokens`, 0, 1),
	reads(`you requested (?:about |a total of )?N tokens`, 0, 1),
	reads(`your messages resulted in N tokens`, 0, 1),
	reads(`your (?:request|prompt) (?:has|contains) (?:at least )?N input tokens`, 0, 1),
	reads(`"n_prompt_tokens": ?N`, 0, 1),
	reads(`keep the first N tokens`, 0, 1),
	reads(`maximum context length (?:is|of) \(?N`, 1),
	reads(`maximum allowed input length of N`, 1),
	reads(`exceed the configured limit of N tokens`, 1),
	reads(`max input tokens: N`, 1),
	reads(`exceeded this model context window limit \(N\)`, 1),
	reads(`too many tokens[^\n]{0,200}the limit for this model is N tokens`, 1),
	reads(`exceeds the maximum number of tokens allowed \(?N`, 1),
	reads(`maximum prompt length is N`, 1),
	reads(`range of input length should be \[\d+, ?N\]`, 1),
	reads(`"n_ctx": ?N`, 1),
	reads(`context length of only N`, 1),
}

// figuresOf reads how many tokens a request had and how many the provider takes; nil where the text does not say. What
// the rule that decided has groups for counts first.
func figuresOf(text string, rule *compiled) (requested, limit *uint32) {
	if text == "" {
		return nil, nil
	}
	requested, limit = rule.figures(text)
	for _, f := range figures {
		if requested != nil && limit != nil {
			break
		}
		match := f.pattern().FindStringSubmatch(text)
		if match == nil {
			continue
		}
		if requested == nil && len(f.requested) > 0 {
			requested = total(match, f.requested...)
		}
		if limit == nil && f.limit > 0 {
			limit = total(match, f.limit)
		}
	}
	return requested, limit
}

// Names of groups by which an expression of a configuration says what its figures are.
const (
	requestedGroup = "requested"
	limitGroup     = "limit"
)

// figures reads those that the rule's own expression has groups for.
func (r *compiled) figures(text string) (requested, limit *uint32) {
	if r == nil || r.expression == nil || r.expression.NumSubexp() == 0 {
		return nil, nil
	}
	match := r.expression.FindStringSubmatch(text)
	if match == nil {
		return nil, nil
	}
	if group := r.expression.SubexpIndex(requestedGroup); group > 0 {
		requested = total(match, group)
	}
	if group := r.expression.SubexpIndex(limitGroup); group > 0 {
		limit = total(match, group)
	}
	return requested, limit
}

// total adds up groups of a match; nil where the sum is no figure that an answer can hold.
func total(match []string, groups ...int) *uint32 {
	var sum uint64
	for _, group := range groups {
		n, err := strconv.ParseUint(strings.NewReplacer(",", "", "_", "").Replace(match[group]), 10, 64)
		if err != nil || n > math.MaxUint32 {
			return nil
		}
		sum += n
	}
	if sum > math.MaxUint32 {
		return nil
	}
	small := uint32(sum)
	return &small
}
