package overflow

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// number matches a number with or without separators of thousands.
const number = `(\d{1,3}(?:[,_]\d{3})+|\d{1,12})`

// figure is a wording that holds figures, with the groups that hold each figure.
type figure struct {
	pattern func() *regexp.Regexp
	// requested are the groups to add up, and limit is one group. 0 means none.
	requested []int
	limit     int
}

func readsFigures(pattern string, limit int, requested ...int) figure {
	return figure{
		pattern: sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(strings.ReplaceAll(pattern, "N", number))
		}),
		requested: requested, limit: limit,
	}
}

// figures are searched in this order, and the first match counts. Those that hold both figures come first.
var figures = []figure{
	readsFigures(`prompt is too long: N tokens? > N`, 2, 1),
	readsFigures(`exceed context limit: N \+ N > N`, 3, 1, 2),
	readsFigures(`input token count \(?N\)? exceeds the maximum number of tokens allowed \(?N`, 2, 1),
	readsFigures(`maximum prompt length is N but the request contains N`, 1, 2),
	readsFigures(`prompt token count of N exceeds the limit of N`, 2, 1),
	readsFigures(`request \(N tokens\) exceeds the available context size \(N`, 2, 1),
	readsFigures(`prompt contains N tokens[^\n]{0,100}too large for model with N maximum context`, 2, 1),
	readsFigures(`exceeded model token limit: N \(requested: N`, 1, 2),
	readsFigures(`input \(N tokens\) is longer than the model.?s context length \(N`, 2, 1),
	readsFigures(`must be <= N\. given: N`, 1, 2),
	readsFigures(`max input length is N tokens, but you supplied N`, 1, 2),
	readsFigures(`requested tokens \(N\) exceed context window of N`, 2, 1),
	readsFigures(`input token count is N but (?:the )?model only supports up to N`, 2, 1),
	readsFigures(`must have less than N tokens\. given: N`, 1, 2),
	readsFigures(`input length N exceeds (?:the )?(?:model.?s )?context length N`, 2, 1),
	readsFigures(`input length N exceeds maximum input length N`, 2, 1),
	readsFigures(`tokens \(N\) exceeded this model context window limit \(N\)`, 2, 1),
	readsFigures(`max input tokens: N, request input token count: N`, 1, 2),
	readsFigures(`number of input tokens N cannot exceed the total tokens limit N`, 2, 1),
	readsFigures(`prompt \(length N\) is longer than the maximum model length of N`, 2, 1),
	readsFigures(`length N \+ (?:max_tokens )?N is greater than (?:cache_size|max_seq_len) N`, 3, 1, 2),
	readsFigures(`length N is greater than max_seq_len N`, 2, 1),
	readsFigures(`prompt is too long: N, model maximum context length: N`, 2, 1),
	readsFigures(`current length is N while limit is N`, 2, 1),
	// Where the output has its own figure, the sum of input and output counts as requested.
	readsFigures(`is too large: N\. this model.?s maximum context length is N tokens and your request has N input tokens`, 2, 1, 3),
	readsFigures(`maximum context length is N[^\n]{0,60}your request has N input tokens plus N`, 1, 2, 3),
	readsFigures(`\blimit:? N,(?: used:? \d+,)? requested:? N`, 1, 2),
	// A total comes before its parts.
	readsFigures(`for a total of (?:at least )?N tokens`, 0, 1),
	readsFigures(`you requested (?:about |a total of )?N tokens`, 0, 1),
	readsFigures(`your messages resulted in N tokens`, 0, 1),
	readsFigures(`your (?:request|prompt) (?:has|contains) (?:at least )?N input tokens`, 0, 1),
	readsFigures(`"n_prompt_tokens": ?N`, 0, 1),
	readsFigures(`keep the first N tokens`, 0, 1),
	readsFigures(`maximum context length (?:is|of) \(?N`, 1),
	readsFigures(`maximum allowed input length of N`, 1),
	readsFigures(`exceed the configured limit of N tokens`, 1),
	readsFigures(`max input tokens: N`, 1),
	readsFigures(`exceeded this model context window limit \(N\)`, 1),
	readsFigures(`too many tokens[^\n]{0,200}the limit for this model is N tokens`, 1),
	readsFigures(`exceeds the maximum number of tokens allowed \(?N`, 1),
	readsFigures(`maximum prompt length is N`, 1),
	readsFigures(`range of input length should be \[\d+, ?N\]`, 1),
	readsFigures(`"n_ctx": ?N`, 1),
	readsFigures(`context length of only N`, 1),
}

// figuresOf returns how many tokens a request had and how many the provider accepts, or nil where the text does not
// say. Groups in the expression of the rule that decided come first.
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

// The names of groups that hold figures in an expression of a configuration.
const (
	requestedGroup = "requested"
	limitGroup     = "limit"
)

// figures returns the figures in the groups of the rule's own expression.
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

// total adds up groups of a match. It returns nil where the sum does not fit into the answer's field.
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
