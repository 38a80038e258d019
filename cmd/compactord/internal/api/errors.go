package api

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/apierror"
)

// CallError is a call that failed, with the daemon that it was made to; empty where the service runs in this process.
type CallError struct {
	address string
	status  *status.Status
}

func (e *CallError) Error() string {
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

// Todo is what a person can do about it; empty where nobody knows.
func (e *CallError) Todo() terminal.Advice {
	if TooLarge(e) && e.address != "" {
		return terminal.Advice{Text: "The daemon's limit is set with --max-message-bytes when it is started."}
	}
	switch reason := reasonOf(e.status); {
	case strings.HasPrefix(reason, "SUMMARIZER_"):
		return terminal.Advice{Text: cmp.Or(modelTodo(MetadataOf(e)), todoOf[reason].Text)}
	case reason == "UNKNOWN_NAME" && MetadataOf(e)["field"] == "policy.summary.summarizer":
		return e.summarizersThere()
	case reason != "":
		return todoOf[reason]
	}
	switch e.status.Code() {
	case codes.Unavailable:
		return terminal.Advice{Text: "Start one: %s\nOr name another address with --addr, or a store without a daemon with --store where the " +
			"command takes it.", Hints: []terminal.Hint{HintServe(e.address)}}
	case codes.DeadlineExceeded:
		return terminal.Advice{Text: "If it is only busy, try again."}
	default:
		return terminal.Advice{}
	}
}

// summarizersThere says where the names of summarizers are listed.
func (e *CallError) summarizersThere() terminal.Advice {
	if e.address == "" {
		return terminal.Advice{Text: "Those that there are: %s", Hints: []terminal.Hint{terminal.Command("summarizers")}}
	}
	return terminal.Advice{
		Text:  "Those of the daemon, whose configuration file names the models: %s",
		Hints: []terminal.Hint{terminal.Command("summarizers", "--addr", e.address)},
	}
}

// GRPCStatus lets status.Convert find the status.
func (e *CallError) GRPCStatus() *status.Status { return e.status }

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

// todoOf is what a person can do about an error, by its reason.
var todoOf = map[string]terminal.Advice{
	"SESSION_NOT_FOUND":      {Text: "The sessions that there are: %s", Hints: []terminal.Hint{terminal.Command("sessions")}},
	"SESSION_EXISTS":         {Text: "Choose another id."},
	"STATE_CHANGED":          {Text: "Try again."},
	"COMPACTION_RUNNING":     {Text: "Wait until it has ended, and try again."},
	"SUMMARIZER_UNAVAILABLE": {Text: "Nothing was changed. Try again later."},
	"SUMMARIZER_REFUSED":     {Text: "Nothing was changed. Check the model's profile in the configuration."},
	"SUMMARY_REJECTED":       {Text: "Nothing was changed."},
	"SHUTTING_DOWN":          {Text: "Try again when the daemon is back."},
	"STORE_CORRUPT":          {Text: "More about it, when no daemon has the store open: %s", Hints: []terminal.Hint{terminal.Command("check")}},
	"INTERNAL":               {Text: "Please report it, with what you did and what the daemon's log has under this id."},
	"NOT_IMPLEMENTED":        {Text: "A later version may."},
}

func reasonOf(st *status.Status) string {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == apierror.Domain {
			return info.GetReason()
		}
	}
	return ""
}

// MetadataOf returns what an error tells programs beside its reason.
func MetadataOf(err error) map[string]string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetMetadata()
		}
	}
	return nil
}

// ErrorReason is the reason of an error of the API; empty where it has none.
func ErrorReason(err error) string {
	var call *CallError
	if !errors.As(err, &call) {
		return ""
	}
	return reasonOf(call.status)
}

// OwnBug says whether the error is a bug of the service in this process.
func (e *CallError) OwnBug() bool { return e.address == "" && reasonOf(e.status) == "INTERNAL" }

// AsReason adds to an error what to do about those with a reason.
func AsReason(err error, reason string) error { return terminal.AdvisedBy(err, todoOf[reason]) }

// HasReason says whether an error of the API has this reason.
func HasReason(err error, reason string) bool {
	return reason != "" && ErrorReason(err) == reason
}

// TooLarge says whether a request was refused for its size: by the service, or far above its limit by gRPC. A full store
// is another limit.
func TooLarge(err error) bool {
	if status.Code(err) != codes.ResourceExhausted {
		return false
	}
	limit, named := MetadataOf(err)["limit"]
	return !HasReason(err, "LIMIT_EXCEEDED") || named && limit == requestLimit
}

// requestLimit is what the service calls the limit of the size of requests.
const requestLimit = "max_message_bytes"

// RefusedFlags turns the refusal of what the flags said into wrong usage.
func RefusedFlags(err error) error {
	var call *CallError
	if errors.As(err, &call) && call.status.Code() == codes.InvalidArgument {
		return terminal.AsUsage(err)
	}
	return err
}
