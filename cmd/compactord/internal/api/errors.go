package api

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/apierror"
)

// CallError is a failed call. Its address is the daemon's, or empty where the service runs in this process.
type CallError struct {
	address string
	status  *status.Status
	// reached reports that something took the last connection, encrypted that this program spoke TLS, and speaksTLS that the
	// daemon does and this program did not.
	reached, encrypted, speaksTLS bool
	// token is what was sent.
	token access.Found
	// given are the flags of the command line.
	given map[string]bool
}

func (e *CallError) Error() string {
	if reason := reasonOf(e.status); reason != "" {
		return fmt.Sprintf("%s (%s)", e.message(), reason)
	}
	// Errors without a reason come from gRPC itself.
	switch e.status.Code() {
	case codes.Unavailable:
		switch problem := e.handshakeProblem(); {
		case problem == plaintextAnswered:
			return fmt.Sprintf("the daemon at %s does not speak TLS", e.address)
		case problem != "":
			return fmt.Sprintf("cannot speak TLS with the daemon at %s: %s", e.address, problem)
		case e.speaksTLS:
			return fmt.Sprintf("the daemon at %s speaks TLS, and this command did not", e.address)
		}
		if e.reached {
			return fmt.Sprintf("the daemon at %s closed the connection", e.address)
		}
		return "no daemon answers at " + e.address
	case codes.Canceled:
		return "the call was cancelled"
	case codes.DeadlineExceeded:
		return "the daemon did not answer in time"
	case codes.Unimplemented:
		return fmt.Sprintf("the server at %s does not know this call: it is an older compactord, or another program",
			e.address)
	case codes.ResourceExhausted:
		return "a message is larger than the limit of the daemon or of this program"
	default:
		return fmt.Sprintf("the call failed: %s (%s)", e.status.Message(), e.status.Code())
	}
}

// Todo returns what a person can do about the error. It is empty where nothing is known.
func (e *CallError) Todo() terminal.Advice {
	if TooLarge(e) && e.address != "" {
		return terminal.Advice{Text: "To raise the limit, start the daemon with --max-message-bytes."}
	}
	switch reason := reasonOf(e.status); {
	case strings.HasPrefix(reason, "SUMMARIZER_"):
		return terminal.Advice{Text: cmp.Or(modelTodo(MetadataOf(e)), todoOf[reason].Text)}
	case reason == "UNKNOWN_NAME" && MetadataOf(e)["field"] == "policy.summary.summarizer":
		return e.summarizersHint()
	case reason == "UNAUTHENTICATED":
		return terminal.Advice{Text: refusedToken(e.token)}
	case reason == "PERMISSION_DENIED" && e.token.Place != "":
		return terminal.Advice{Text: "The token is that of " + e.token.Place + ". " + todoOf[reason].Text}
	case reason != "":
		return todoOf[reason]
	}
	switch e.status.Code() {
	case codes.Unavailable:
		if advice, is := e.tlsAdvice(); is {
			return advice
		}
		if e.reached {
			perhaps := ""
			if e.encrypted {
				perhaps = " Or perhaps it takes only clients with a certificate: give --client-cert."
			}
			return terminal.Advice{Text: "It has stopped, or it takes no more connections (--max-connections): its log says which." + perhaps +
				" If none of these, another program listens there."}
		}
		return terminal.Advice{Text: "Start one: %s\nOr name another address with --addr, or a store without a daemon with --store where the " +
			"command takes it.", Hints: []terminal.Hint{HintServe(e.address)}}
	case codes.DeadlineExceeded:
		return terminal.Advice{Text: "If it is only busy, try again."}
	default:
		return terminal.Advice{}
	}
}

// plaintextAnswered is what crypto/tls says of a server that answers without TLS.
const plaintextAnswered = "tls: first record does not look like a TLS handshake"

// tlsAdvice returns what to do where the daemon and this program do not agree about TLS.
func (e *CallError) tlsAdvice() (terminal.Advice, bool) {
	switch problem := e.handshakeProblem(); {
	case problem == plaintextAnswered:
		return terminal.Advice{Text: "Leave out --tls, --tls-ca and --client-cert, and unset COMPACTORD_TLS, COMPACTORD_TLS_CA and COMPACTORD_CLIENT_CERT. " +
			"For TLS, start the daemon with --tls-cert and --tls-key."}, true
	case strings.Contains(problem, "unknown authority") || strings.Contains(problem, "not trusted"):
		return terminal.Advice{Text: "Give --tls-ca with the certificate of the authority that has signed the daemon's, or that one itself if nobody else has."}, true
	case strings.Contains(problem, "certificate required"):
		return terminal.Advice{Text: "The daemon takes only clients with a certificate: give --client-cert and --client-key."}, true
	case e.speaksTLS:
		return terminal.Advice{Text: "Use --tls, or --tls-ca with the certificate of the authority that has signed the daemon's."}, true
	default:
		return terminal.Advice{}, problem != ""
	}
}

// handshakeProblem returns what was wrong with TLS, or nothing. gRPC has no other place for it than its message.
func (e *CallError) handshakeProblem() string {
	if !e.encrypted {
		return ""
	}
	for _, before := range []string{"authentication handshake failed: ", "error reading server preface: "} {
		if _, problem, found := strings.Cut(e.status.Message(), before); found {
			return strings.Trim(strings.TrimPrefix(problem, "remote error: "), `"`)
		}
	}
	return ""
}

// summarizersHint says how to list the summarizers.
func (e *CallError) summarizersHint() terminal.Advice {
	if e.address == "" {
		return terminal.Advice{Text: "To list the summarizers: %s", Hints: []terminal.Hint{terminal.Command("summarizers")}}
	}
	return terminal.Advice{
		Text:  "To list those of the daemon, whose configuration file names the models: %s",
		Hints: []terminal.Hint{terminal.Command("summarizers", "--addr", e.address)},
	}
}

// GRPCStatus lets status.Convert find the status.
func (e *CallError) GRPCStatus() *status.Status { return e.status }

// modelTodo returns what to check where a model's provider failed, by its HTTP status.
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

// todoOf maps the reason of an error to what a person can do about it.
var todoOf = map[string]terminal.Advice{
	"SESSION_NOT_FOUND":      {Text: "To list the sessions: %s", Hints: []terminal.Hint{terminal.Command("sessions")}},
	"SESSION_EXISTS":         {Text: "Choose another id."},
	"STATE_CHANGED":          {Text: "Try again."},
	"COMPACTION_RUNNING":     {Text: "Wait for its end, and try again."},
	"SUMMARIZER_UNAVAILABLE": {Text: "Nothing was changed. Try again later."},
	"SUMMARIZER_REFUSED":     {Text: "Nothing was changed. Check the model's profile in the configuration."},
	"SUMMARY_REJECTED":       {Text: "Nothing was changed."},
	"PERMISSION_DENIED":      {Text: "Use another token, with --token-file or COMPACTORD_TOKEN."},
	"SHUTTING_DOWN":          {Text: "Try again when the daemon is back."},
	"STORE_CORRUPT":          {Text: "To find the damage, when no daemon has the store open, and with --store where it is not the default: %s", Hints: []terminal.Hint{terminal.Command("check")}},
	"INTERNAL":               {Text: "Please report it, with what you did and the lines of the daemon's log that have this id."},
	"NOT_IMPLEMENTED":        {Text: "The daemon was built without this: use another build of it."},
}

func reasonOf(st *status.Status) string {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == apierror.Domain {
			return info.GetReason()
		}
	}
	return ""
}

// MetadataOf returns the metadata of an error of the API.
func MetadataOf(err error) map[string]string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetMetadata()
		}
	}
	return nil
}

// ErrorReason returns the reason of an error of the API. It is empty where the error has none.
func ErrorReason(err error) string {
	var call *CallError
	if !errors.As(err, &call) {
		return ""
	}
	return reasonOf(call.status)
}

// OwnBug says whether the error is a bug in the service of this process.
func (e *CallError) OwnBug() bool { return e.address == "" && reasonOf(e.status) == "INTERNAL" }

// AsReason adds the advice for a reason to an error.
func AsReason(err error, reason string) error { return terminal.AdvisedBy(err, todoOf[reason]) }

// HasReason says whether an error of the API has this reason.
func HasReason(err error, reason string) bool {
	return reason != "" && ErrorReason(err) == reason
}

// TooLarge says whether a request was refused for its size, by the service or by gRPC. It is false for a full store,
// which exceeds another limit.
func TooLarge(err error) bool {
	if status.Code(err) != codes.ResourceExhausted {
		return false
	}
	return ErrorReason(err) == "" || HasReason(err, "LIMIT_EXCEEDED") && slices.Contains(requestLimits, MetadataOf(err)["limit"])
}

// requestLimits are the service's names for the limits of what one request may hold.
var requestLimits = []string{"max_message_bytes", "max_request_values", "max_json_values", "max_inflight_bytes_of_client"}

// RefusedFlags marks INVALID_ARGUMENT, which the values of flags caused, as wrong usage.
func RefusedFlags(err error) error {
	var call *CallError
	if errors.As(err, &call) && call.status.Code() == codes.InvalidArgument {
		return terminal.AsUsage(err)
	}
	return err
}
