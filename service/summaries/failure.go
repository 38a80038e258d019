package summaries

import (
	"context"
	"errors"
	"strconv"
	"time"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/allowance"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/summarizers"
)

// retrySummarizerAfter is the time after which clients may try again where the summarizer gives none.
const retrySummarizerAfter = 30 * time.Second

// failureOf returns the API's error for a summarizer that wrote nothing usable. The error contains no text of the
// conversation or of a provider.
func failureOf(name string, failure error) *apierror.Error {
	metadata := map[string]string{"summarizer": name}
	var refused *summarizers.CheckError
	var provider *summarizers.ProviderError
	var panicked *apierror.PanicError
	var limited *allowance.LimitError
	switch {
	case errors.As(failure, &panicked):
		// A second try would meet the same bug.
		metadata["operation_id"] = panicked.ID
		e := apierror.New(compactordv1.ErrorReason_ERROR_REASON_INTERNAL, metadata,
			"summarizer %s failed: %s", name, apierror.BugMessage(panicked.ID))
		e.Cause = failure
		return e
	case errors.As(failure, &limited):
		metadata["limit"] = "daily_" + limited.Limit
		e := apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED, metadata, "%s", limited.Error())
		e.RetryAfter = limited.RetryAfter
		return e
	case errors.As(failure, &refused):
		metadata["check"] = refused.Check
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_SUMMARY_REJECTED, metadata,
			"no summary by %s passed the checks: %s", name, refused.Detail)
	case errors.As(failure, &provider) && !timedOut(provider):
		return providerFailure(name, metadata, provider)
	case errors.Is(failure, context.DeadlineExceeded), provider != nil:
		metadata["deadline"] = "summarizer"
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED, metadata,
			"summarizer %s did not answer within its time limit%s", name, ofLimit(failure))
	default:
		return unreachable(apierror.New(compactordv1.ErrorReason_ERROR_REASON_SUMMARIZER_UNAVAILABLE, metadata,
			"summarizer %s failed", name), failure, 0)
	}
}

// timedOut says that the provider did not answer within the time limit of one request.
func timedOut(p *summarizers.ProviderError) bool { return p.Status == 0 && p.Code == "timeout" }

// ofLimit returns the time limit that has passed, for an error message.
func ofLimit(failure error) string {
	var passed *summarizers.TimeLimitError
	if !errors.As(failure, &passed) {
		return ""
	}
	return " of " + passed.Limit.String()
}

func providerFailure(name string, metadata map[string]string, p *summarizers.ProviderError) *apierror.Error {
	if p.Status != 0 {
		metadata["http_status"] = strconv.Itoa(p.Status)
	}
	if p.Code != "" {
		metadata["code"] = p.Code
	}
	switch {
	case p.Retryable:
		return unreachable(apierror.New(compactordv1.ErrorReason_ERROR_REASON_SUMMARIZER_UNAVAILABLE, metadata,
			"summarizer %s is out of reach: %s", name, p.Error()), p, p.RetryAfter)
	case p.Overflow:
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_SUMMARIZER_REFUSED, metadata,
			"summarizer %s refuses the request: it is too long for the model's window, also after it was halved: %s", name, p.Error())
	default:
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_SUMMARIZER_REFUSED, metadata,
			"summarizer %s refuses the request, and would again: %s", name, p.Error())
	}
}

// unreachable adds the cause, and the time after which the client may try again. Of the causes, only bugs are logged.
func unreachable(e *apierror.Error, cause error, after time.Duration) *apierror.Error {
	e.Cause, e.RetryAfter = cause, retrySummarizerAfter
	if after > 0 {
		e.RetryAfter = after
	}
	return e
}
