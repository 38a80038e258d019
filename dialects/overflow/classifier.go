package overflow

import (
	"regexp"
	"slices"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	statusTooManyRequests = 429
	statusTooLarge        = 413
	firstErrorStatus      = 400
	firstServerError      = 500
	// Input of fullPercent of the window leaves no room to answer.
	fullPercent = 99
)

// refusedStatuses mean that the caller or the address is wrong, not the length.
var refusedStatuses = []uint32{401, 403, 404}

// Classifier says what kind errors are. It has no state and is safe for concurrent use.
type Classifier struct {
	// exclusions and overflows are the rules of a configuration. They come before the built-in ones of their kind.
	exclusions, overflows []compiled
}

// The built-in rules are compiled at the first error with a text. Most processes have none.
var (
	builtInExclusions = sync.OnceValue(func() []compiled { return compile(exclusions) })
	builtInOverflows  = sync.OnceValue(func() []compiled { return append(compile(tokenRules), compile(byteRules)...) })
)

// compiled is a rule that searches the text.
type compiled struct {
	Rule
	expression *regexp.Regexp
}

// withoutPattern returns a rule that does not search the text.
func withoutPattern(r Rule) *compiled { return &compiled{Rule: r} }

// New returns a classifier with the built-in rules and those of a configuration, which come before the built-in ones of
// their kind. It returns an EntryError for the first entry that is not valid.
func New(extra Extra) (*Classifier, error) {
	patterns, exclude, err := extra.compile()
	if err != nil {
		return nil, err
	}
	return &Classifier{exclusions: exclude, overflows: patterns}, nil
}

func compile(rules []Rule) []compiled {
	all := make([]compiled, 0, len(rules))
	for _, r := range rules {
		all = append(all, compiled{Rule: r, expression: regexp.MustCompile(r.Pattern)})
	}
	return all
}

// Classify says what kind the error is. window is the model's context window in tokens. With 0 it is unknown, and usage
// shows no overflow.
func (c *Classifier) Classify(req *compactordv1.ClassifyErrorRequest, window uint32) *compactordv1.ClassifyErrorResponse {
	text := ""
	if isError(req) {
		text = searchable(req.GetErrorText())
	}
	answer := &compactordv1.ClassifyErrorResponse{
		ErrorClass: other, Why: "Nothing speaks for an overflow or a rate limit.",
	}
	rule := c.decide(req, text, window)
	if rule != nil {
		answer.ErrorClass, answer.Rule, answer.Why = rule.Class, rule.ID, rule.Sentence
	}
	answer.Overflow = answer.GetErrorClass() == contextOverflow || answer.GetErrorClass() == tooLarge
	answer.RequestedTokens, answer.LimitTokens = figuresOf(text, rule)
	return answer
}

// isError reports whether the text can be that of an error. Models write about overflows, too.
func isError(req *compactordv1.ClassifyErrorRequest) bool {
	stopped := stopOf(req)
	return req.GetHttpStatus() >= firstErrorStatus ||
		stopped == compactordv1.StopReason_STOP_REASON_UNSPECIFIED ||
		stopped == compactordv1.StopReason_STOP_REASON_ERROR
}

// decide returns the first rule that matches, or nil.
func (c *Classifier) decide(req *compactordv1.ClassifyErrorRequest, text string, window uint32) *compiled {
	status := req.GetHttpStatus()
	isRefused := slices.Contains(refusedStatuses, status)
	switch {
	case status == statusTooManyRequests:
		return withoutPattern(tooManyRequests)
	case saysFullWindow(req) && !isRefused:
		return withoutPattern(windowFull)
	}
	if rule := search(c.exclusions, builtInExclusions, text, status); rule != nil {
		return rule
	}
	if isRefused {
		return withoutPattern(refused)
	}
	if rule := search(c.overflows, builtInOverflows, text, status); rule != nil {
		return rule
	}
	if status == statusTooLarge {
		return withoutPattern(tooLargeStatus)
	}
	return byUsage(req, window)
}

// search returns the first rule that matches the text: those of a configuration first, then the built-in ones.
func search(configured []compiled, builtIn func() []compiled, text string, status uint32) *compiled {
	if text == "" {
		return nil
	}
	clientError := status >= firstErrorStatus && status < firstServerError
	for _, r := range slices.Concat(configured, builtIn()) {
		if (clientError || !r.ClientError) && r.expression.MatchString(text) {
			return &r
		}
	}
	return nil
}

// byUsage finds overflows without an error: a provider dropped what was over the window, or left no room to answer.
// Output, and what was written to the cache, do not count, since neither shows that input was lost.
func byUsage(req *compactordv1.ClassifyErrorRequest, window uint32) *compiled {
	u := req.GetUsage()
	input := uint64(u.GetInputTokens()) + uint64(u.GetCacheReadTokens())
	stopped := stopOf(req)
	switch {
	case window == 0:
		return nil
	case stopped == compactordv1.StopReason_STOP_REASON_END && input > uint64(window):
		return withoutPattern(overWindow)
	case stopped == compactordv1.StopReason_STOP_REASON_LENGTH && u.GetOutputTokens() == 0 &&
		input*100 >= uint64(window)*fullPercent:
		return withoutPattern(noOutput)
	default:
		return nil
	}
}
