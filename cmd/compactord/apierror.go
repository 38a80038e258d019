package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/service"
)

// callError is a call that failed, with the daemon that it was made to; empty where the service runs in this process.
type callError struct {
	address string
	status  *status.Status
}

func (e *callError) Error() string {
	if reason := reasonOf(e.status); reason != "" {
		return fmt.Sprintf("%s (%s)", e.status.Message(), reason)
	}
	// gRPC itself reports it.
	switch e.status.Code() {
	case codes.Unavailable:
		return "no daemon answers at " + e.address
	case codes.Canceled:
		return "the call was cancelled"
	case codes.DeadlineExceeded:
		return "the daemon did not answer in time"
	case codes.Unimplemented:
		return fmt.Sprintf("what answers at %s does not know this call: it is an older compactord, or another program",
			e.address)
	case codes.ResourceExhausted:
		return "a message is larger than the daemon takes, or than this program reads"
	default:
		return fmt.Sprintf("the call failed: %s (%s)", e.status.Message(), e.status.Code())
	}
}

// todo is what a person can do about it; empty where nobody knows.
func (e *callError) todo() string {
	if tooLarge(e) {
		return "The daemon's limit is set with 'compactord serve --max-message-bytes'."
	}
	switch reason := reasonOf(e.status); {
	case strings.HasPrefix(reason, "SUMMARIZER_"):
		return cmp.Or(modelTodo(metadataOf(e)), advice[reason])
	case reason == "UNKNOWN_NAME" && metadataOf(e)["field"] == "policy.summary.summarizer":
		return "'compactord summarizers --addr' lists those of the daemon, whose configuration file names the models."
	case reason != "":
		return advice[reason]
	}
	switch e.status.Code() {
	case codes.Unavailable:
		return "Start one with 'compactord serve', name another address with --addr, or open a store without a daemon " +
			"with --store."
	case codes.DeadlineExceeded:
		return "If it is only busy, try again."
	default:
		return ""
	}
}

// GRPCStatus lets status.Convert find the status.
func (e *callError) GRPCStatus() *status.Status { return e.status }

// modelTodo is what to check where a model's provider gives no answer, by its HTTP status.
func modelTodo(metadata map[string]string) string {
	switch metadata["http_status"] {
	case "401", "403":
		return "Nothing was changed. Check the key that the profile names with api_key_env or api_key_file, and what it may do."
	case "404":
		return "Nothing was changed. Check model and base_url of the profile."
	case "400", "422":
		return "Nothing was changed. Check model, max_output_tokens and reasoning_effort of the profile."
	case "402", "429":
		return "Nothing was changed. Check the account's limits and balance, or try again later."
	default:
		return ""
	}
}

// advice is what a person can do about an error, by its reason.
var advice = map[string]string{
	"SESSION_NOT_FOUND":      "'compactord sessions' lists the sessions that there are.",
	"SESSION_EXISTS":         "Choose another id.",
	"STATE_CHANGED":          "Try again.",
	"COMPACTION_RUNNING":     "Wait until it has ended, and try again.",
	"SUMMARIZER_UNAVAILABLE": "Nothing was changed. Try again later.",
	"SUMMARIZER_REFUSED":     "Nothing was changed. Check the model's profile in the configuration.",
	"SUMMARY_REJECTED":       "Nothing was changed.",
	"SHUTTING_DOWN":          "Try again when the daemon is back.",
	"STORE_CORRUPT":          "'compactord check' says more.",
	"INTERNAL":               "Please report it, with what you did.",
	"NOT_IMPLEMENTED":        "A later version may.",
}

func reasonOf(st *status.Status) string {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == service.Domain {
			return info.GetReason()
		}
	}
	return ""
}

// metadataOf returns what an error tells programs beside its reason.
func metadataOf(err error) map[string]string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetMetadata()
		}
	}
	return nil
}

// hasReason says whether an error of the API has this reason.
func hasReason(err error, reason string) bool {
	var call *callError
	return errors.As(err, &call) && reasonOf(call.status) == reason
}

// tooLarge says whether a request was refused for its size: by the service, or far above its limit by gRPC. A full store
// is another limit.
func tooLarge(err error) bool {
	if status.Code(err) != codes.ResourceExhausted {
		return false
	}
	limit, named := metadataOf(err)["limit"]
	return !hasReason(err, "LIMIT_EXCEEDED") || named && limit == requestLimit
}

// requestLimit is what the service calls the limit of the size of requests.
const requestLimit = "max_message_bytes"

// refusedFlags turns the refusal of what the flags said into wrong usage.
func refusedFlags(err error) error {
	var call *callError
	if errors.As(err, &call) && call.status.Code() == codes.InvalidArgument {
		return asUsage(err)
	}
	return err
}
