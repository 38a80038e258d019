package wire

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/compactord/compactord/summarizers"
)

const (
	okStatus  = http.StatusOK
	maxCode   = 64
	maxDelay  = 24 * time.Hour
	retryInfo = "RetryInfo"
	errorInfo = "ErrorInfo"
	// statusOverloaded is a status that only Anthropic uses.
	statusOverloaded = 529
)

// statuses are the HTTP statuses that errors would have had if they had not come in the middle of a stream.
var statuses = map[string]int{
	"api_error": 500, "server_error": 500, "internal_error": 500, "internal_server_error": 500,
	"overloaded_error": statusOverloaded, "rate_limit_error": 429, "rate_limit_exceeded": 429, "timeout_error": 504,
	"invalid_request_error": 400, "invalid_prompt": 400, "context_length_exceeded": 400,
	"billing_error": 402, "authentication_error": 401, "permission_error": 403,
	"not_found_error": 404, "request_too_large": 413, "insufficient_quota": 429,
}

// unpaid are errors that last until somebody pays.
var unpaid = []string{
	"insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance",
	"account_deactivated", codeCredit,
}

// forbidden are other errors that every request would get, because of the key, the project or the model, whatever the
// HTTP status.
var forbidden = []string{
	"API_KEY_INVALID", "API_KEY_SERVICE_BLOCKED", "API_KEY_HTTP_REFERRER_BLOCKED", "API_KEY_IP_ADDRESS_BLOCKED",
	"PERMISSION_DENIED", "UNAUTHENTICATED", "SERVICE_DISABLED", "BILLING_DISABLED", "CONSUMER_SUSPENDED", "CONSUMER_INVALID",
	"invalid_api_key", "authentication_error", "permission_error", "model_not_found",
}

// codeCredit is our code for an error that Anthropic only describes in its message.
const codeCredit = "credit_balance_too_low"

// credit matches that message. An error that quotes a request does not begin like this.
var credit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*(?:your|the) credit balance\b[^.]{0,20}\blow\b`)
})

// failure is an error as the provider reports it.
type failure struct {
	// status is the HTTP status that the error itself contains, or 0.
	status        int
	code, message string
	// kind is the error's second name: the name for a used-up quota may be in code or in kind. reason is a further name
	// that Google's APIs give.
	kind, reason string
	// param is the parameter that the error is about.
	param string
	after time.Duration
	// response says that the error is part of a failed response, as in OpenAI's Responses API, and that the event may
	// contain more, such as the usage.
	response bool
}

// envelope holds the places where providers and their imitators put an error: a field, a failed response, or the whole
// document. Gemini may put the document into a list.
type envelope struct {
	Error    json.RawMessage `json:"error"`
	Type     string          `json:"type"`
	Object   string          `json:"object"`
	Response *struct {
		Error json.RawMessage `json:"error"`
	} `json:"response"`
}

// details are the fields of an error.
type details struct {
	Code    json.RawMessage `json:"code"`
	Type    json.RawMessage `json:"type"`
	Status  json.RawMessage `json:"status"`
	Message json.RawMessage `json:"message"`
	Param   json.RawMessage `json:"param"`
	Details []detail        `json:"details"`
}

type detail struct {
	Type   string `json:"@type"`
	Delay  string `json:"retryDelay"`
	Reason string `json:"reason"`
}

// readFailure reads the error in a document. It returns nil if there is none.
func readFailure(document []byte) *failure {
	var list []json.RawMessage
	if json.Unmarshal(document, &list) == nil && len(list) > 0 {
		document = list[0]
	}
	var e envelope
	// A field with another type is ignored; the other fields are still read.
	_ = json.Unmarshal(document, &e)
	switch {
	case isSaid(e.Error):
		return readDetails(e.Error)
	case e.Response != nil && e.Type == "response.failed":
		f := readDetails(e.Response.Error)
		f.response = true
		return f
	case e.Type == "error", e.Object == "error":
		f := readDetails(document)
		if f.code == "error" {
			f.code = ""
		}
		return f
	default:
		return nil
	}
}

// isSaid says whether an error field contains anything.
func isSaid(field json.RawMessage) bool {
	switch string(field) {
	case "", "null", "false", `""`, "{}":
		return false
	default:
		return true
	}
}

func readDetails(raw json.RawMessage) *failure {
	var message string
	if json.Unmarshal(raw, &message) == nil {
		return &failure{message: message}
	}
	var d details
	_ = json.Unmarshal(raw, &d)
	f := &failure{message: text(d.Message), kind: text(d.Type), param: text(d.Param)}
	for _, name := range []json.RawMessage{d.Code, d.Type, d.Status} {
		if status := number(name); status != 0 {
			f.status = status
		} else if f.code == "" {
			f.code = text(name)
		}
	}
	for _, one := range d.Details {
		if strings.HasSuffix(one.Type, errorInfo) {
			f.reason = one.Reason
		}
		if !strings.HasSuffix(one.Type, retryInfo) {
			continue
		}
		if delay, err := time.ParseDuration(one.Delay); err == nil {
			f.after = clampDelay(delay)
		}
	}
	return f
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// number reads an HTTP status, which may also be a string. It returns 0 if it is not the status of an error.
func number(raw json.RawMessage) int {
	n, err := strconv.Atoi(strings.Trim(string(raw), `"`))
	if err != nil || n < http.StatusBadRequest || n > 599 {
		return 0
	}
	return n
}

// refused reads a response with the HTTP status of an error.
func (c *Client) refused(res *http.Response, document []byte) *summarizers.ProviderError {
	said := readFailure(document)
	if said == nil {
		// Some servers and proxies use none of the known shapes.
		said = readDetails(document)
		if said.message == "" {
			said.message = string(document)
		}
	}
	// The status line is more reliable than a status in the body.
	said.status = res.StatusCode
	err := c.errorFrom(res.StatusCode, said)
	if after, ok := retryAfter(res.Header, time.Now()); ok {
		err.RetryAfter = after
	}
	if res.Header.Get("X-Should-Retry") == "false" {
		err.Retryable = false
	}
	return err
}

// errorFrom returns the error for a failure in a response with this HTTP status.
func (c *Client) errorFrom(status int, said *failure) *summarizers.ProviderError {
	known := cmp.Or(said.status, statuses[said.code], statuses[said.kind], status)
	err := &summarizers.ProviderError{
		Status: status, Code: sanitize(said.name()), Param: sanitize(said.param), RetryAfter: said.after,
	}
	if err.Code == "" && known != status && known == said.status {
		err.Code = strconv.Itoa(known)
	}
	err.Overflow = c.options.Overflow(known, said.code, said.message)
	err.RefusesAll = !err.Overflow && (refusesAll(known) || said.is(unpaid) || said.is(forbidden))
	err.Retryable = passes(known) && !err.Overflow && !err.RefusesAll
	return err
}

// is says whether one of the error's names is in a list.
func (f *failure) is(among []string) bool {
	return slices.ContainsFunc([]string{f.name(), f.code, f.kind, f.reason}, func(name string) bool {
		return slices.Contains(among, name)
	})
}

// name returns the name that says most about the cause.
func (f *failure) name() string {
	switch {
	case credit().MatchString(f.message):
		return codeCredit
	case sanitize(f.reason) != "":
		return f.reason
	case slices.Contains(unpaid, f.kind):
		return f.kind
	default:
		return f.code
	}
}

// refusesAll says whether an error with this status is about the key, the account or the model.
func refusesAll(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound:
		return true
	default:
		return false
	}
}

// passes says whether an error with this status is transient. An error in a stream without a known name counts as the
// server's own.
func passes(status int) bool {
	switch status {
	case okStatus, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	default:
		return status >= http.StatusInternalServerError
	}
}

// sanitize returns the code if it has only letters, digits, `_`, `.` and `-`. Otherwise it returns "", since the text
// may quote the conversation.
func sanitize(code string) string {
	isCode := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-'
	}
	if len(code) > maxCode || strings.ContainsFunc(code, func(r rune) bool { return !isCode(r) }) {
		return ""
	}
	return code
}

// retryAfter reads how long to wait from the headers.
func retryAfter(header http.Header, now time.Time) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		return delay(ms, time.Millisecond), true
	}
	said := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(said, 64); err == nil {
		return delay(seconds, time.Second), true
	}
	if at, err := http.ParseTime(said); err == nil {
		return clampDelay(at.Sub(now)), true
	}
	return 0, false
}

// delay limits the number before it converts it, since a Duration cannot hold every number.
func delay(n float64, unit time.Duration) time.Duration {
	if !(n > 0) {
		return 0
	}
	return clampDelay(time.Duration(min(n, float64(maxDelay/unit)) * float64(unit)))
}

func clampDelay(d time.Duration) time.Duration { return min(max(d, 0), maxDelay) }
