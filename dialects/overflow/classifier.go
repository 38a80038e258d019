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
	// fullPercent of the window leave no room to answer.
	fullPercent = 99
)

// refusedStatuses say that who asks, or what is asked for, is at fault.
var refusedStatuses = []uint32{401, 403, 404}

// Classifier tells what errors are. It holds no state and may be used by many at once.
type Classifier struct {
	// exclusions and overflows are the rules of a configuration. They come before the built-in ones of their kind.
	exclusions, overflows []compiled
}

// The built-in rules are compiled at the first error with a text: most processes meet none.
var (
	builtInExclusions = sync.OnceValue(func() []compiled { return compile(exclusions) })
	builtInOverflows  = sync.OnceValue(func() []compiled { return append(compile(tokenRules), compile(byteRules)...) })
)

// compiled is a rule that searches the text.
type compiled struct {
	Rule
	expression *regexp.Regexp
}

// byItself is a rule that looks elsewhere than in the text.
func byItself(r Rule) *compiled { return &compiled{Rule: r} }

// New returns a classifier with the built-in rules, and before those of their kind the ones of a configuration. It
// returns an EntryError for the first entry that cannot be used.
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

// Classify says what the error is. window is the model's context window in tokens; 0 is unknown, and then no overflow is
// found by usage.
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

// isError says whether the text can be one of an error. Models write about overflows, too.
func isError(req *compactordv1.ClassifyErrorRequest) bool {
	stopped := stopOf(req)
	return req.GetHttpStatus() >= firstErrorStatus ||
		stopped == compactordv1.StopReason_STOP_REASON_UNSPECIFIED ||
		stopped == compactordv1.StopReason_STOP_REASON_ERROR
}

// decide returns the first rule that holds; nil where none does.
func (c *Classifier) decide(req *compactordv1.ClassifyErrorRequest, text string, window uint32) *compiled {
	status := req.GetHttpStatus()
	isRefused := slices.Contains(refusedStatuses, status)
	switch {
	case status == statusTooManyRequests:
		return byItself(tooManyRequests)
	case saysFullWindow(req) && !isRefused:
		return byItself(windowFull)
	}
	if rule := search(c.exclusions, builtInExclusions, text, status); rule != nil {
		return rule
	}
	if isRefused {
		return byItself(refused)
	}
	if rule := search(c.overflows, builtInOverflows, text, status); rule != nil {
		return rule
	}
	if status == statusTooLarge {
		return byItself(tooLargeStatus)
	}
	return byUsage(req, window)
}

// search returns the first rule that holds for the text: of those of a configuration, else of the built-in ones.
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

// byUsage finds what no error tells: a provider that dropped what was over the window, or left no room to answer. What
// was written to the cache and the output do not count: neither says that input was lost.
func byUsage(req *compactordv1.ClassifyErrorRequest, window uint32) *compiled {
	u := req.GetUsage()
	input := uint64(u.GetInputTokens()) + uint64(u.GetCacheReadTokens())
	stopped := stopOf(req)
	switch {
	case window == 0:
		return nil
	case stopped == compactordv1.StopReason_STOP_REASON_END && input > uint64(window):
		return byItself(overWindow)
	case stopped == compactordv1.StopReason_STOP_REASON_LENGTH && u.GetOutputTokens() == 0 &&
		input*100 >= uint64(window)*fullPercent:
		return byItself(noOutput)
	default:
		return nil
	}
}
