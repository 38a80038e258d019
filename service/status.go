package service

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// Domain is the domain of google.rpc.ErrorInfo in every error.
const Domain = "compactord"

// maxFieldViolations bounds what one BadRequest names.
const maxFieldViolations = 20

const reasonPrefix = "ERROR_REASON_"

// sentinels are the errors of the packages below, each with what the API makes of it. text stands in for texts of the
// operating system, which name paths; without it the error's own is sent.
var sentinels = []struct {
	err    error
	code   codes.Code
	reason compactordv1.ErrorReason
	text   string
}{
	{
		storage.ErrNotFound, codes.NotFound, compactordv1.ErrorReason_ERROR_REASON_SESSION_NOT_FOUND,
		"the session was deleted meanwhile",
	},
	{
		storage.ErrExists, codes.AlreadyExists, compactordv1.ErrorReason_ERROR_REASON_SESSION_EXISTS,
		"the session exists already",
	},
	{
		storage.ErrConflict, codes.Aborted, compactordv1.ErrorReason_ERROR_REASON_STATE_CHANGED,
		"the session kept changing: try again",
	},
	{
		storage.ErrClosed, codes.Unavailable, compactordv1.ErrorReason_ERROR_REASON_SHUTTING_DOWN,
		"the daemon is shutting down",
	},
	{
		storage.ErrFull, codes.ResourceExhausted, compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
		"the store is full; nothing was written",
	},
	{
		storage.ErrCorrupt, codes.DataLoss, compactordv1.ErrorReason_ERROR_REASON_STORE_CORRUPT,
		"the store is damaged; `compactord check` tells more",
	},
	{
		session.ErrUnknownRecord, codes.DataLoss, compactordv1.ErrorReason_ERROR_REASON_STORE_CORRUPT,
		"the store holds a record of a newer daemon",
	},
	{session.ErrEstimator, codes.Unimplemented, compactordv1.ErrorReason_ERROR_REASON_NOT_IMPLEMENTED, ""},
	{session.ErrPolicy, codes.InvalidArgument, compactordv1.ErrorReason_ERROR_REASON_INVALID_POLICY, ""},
	{session.ErrToken, codes.InvalidArgument, compactordv1.ErrorReason_ERROR_REASON_INVALID_TOKEN, ""},
	{strategies.ErrUnknown, codes.InvalidArgument, compactordv1.ErrorReason_ERROR_REASON_UNKNOWN_NAME, ""},
	{strategies.ErrNotImplemented, codes.Unimplemented, compactordv1.ErrorReason_ERROR_REASON_NOT_IMPLEMENTED, ""},
	{strategies.ErrInvalidPlan, codes.Aborted, compactordv1.ErrorReason_ERROR_REASON_PLAN_INVALID, ""},
	{summarizers.ErrUnknown, codes.InvalidArgument, compactordv1.ErrorReason_ERROR_REASON_UNKNOWN_NAME, ""},
	{errShuttingDown, codes.Unavailable, compactordv1.ErrorReason_ERROR_REASON_SHUTTING_DOWN, ""},
	{errPreempted, codes.Canceled, compactordv1.ErrorReason_ERROR_REASON_CANCELLED, ""},
	{errCancelled, codes.Canceled, compactordv1.ErrorReason_ERROR_REASON_CANCELLED, ""},
	{errDeleted, codes.Canceled, compactordv1.ErrorReason_ERROR_REASON_CANCELLED, ""},
	{
		context.Canceled, codes.Canceled, compactordv1.ErrorReason_ERROR_REASON_CANCELLED,
		"the call was cancelled",
	},
	{
		context.DeadlineExceeded, codes.DeadlineExceeded, compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED,
		"the deadline has passed",
	},
}

// retryUnavailableAfter is what clients are told while the daemon stops: a supervisor starts it again within seconds.
const retryUnavailableAfter = 5 * time.Second

// asError makes an Error of any error. What nobody has mapped is a bug: internalID stands for its text.
func asError(err error, internalID string) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var violations *protovalidate.ValidationError
	if errors.As(err, &violations) {
		return fromViolations(violations)
	}
	var late *deadlineError
	if errors.As(err, &late) {
		e := newError(codes.DeadlineExceeded, compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED,
			map[string]string{"deadline": late.whose}, "%s", late.text)
		e.Cause = err
		return e
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			e = &Error{Code: s.code, Reason: s.reason, Message: cmp.Or(s.text, err.Error()), Cause: err}
			if e.Code == codes.Unavailable {
				e.RetryAfter = retryUnavailableAfter
			}
			if errors.Is(err, storage.ErrFull) {
				e.Metadata = map[string]string{"limit": "store_size"}
			}
			var policy *session.PolicyError
			if errors.As(err, &policy) {
				e.Metadata = map[string]string{"field": policy.Field}
				e.Fields = []FieldViolation{{Field: policy.Field, Description: policy.What}}
			}
			return e
		}
	}
	return &Error{
		Code:    codes.Internal,
		Reason:  compactordv1.ErrorReason_ERROR_REASON_INTERNAL,
		Message: bugMessage(internalID),
		Cause:   err,
	}
}

// bugMessage says what to do about a bug, and how to name it.
func bugMessage(id string) string {
	return "internal error " + id + ": this is a bug, please report it with this id; the log tells more under it"
}

func fromViolations(v *protovalidate.ValidationError) *Error {
	e := &Error{
		Code:   codes.InvalidArgument,
		Reason: compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD,
	}
	for _, violation := range v.Violations {
		if len(e.Fields) == maxFieldViolations {
			break
		}
		e.Fields = append(e.Fields, FieldViolation{
			Field:       violatedField(violation),
			Description: described(violation),
		})
	}
	texts := make([]string, 0, len(e.Fields))
	for _, f := range e.Fields {
		texts = append(texts, short(f.Field, maxFieldBytes)+": "+short(f.Description, maxDescriptionBytes))
	}
	e.Message = strings.Join(texts, "; ")
	return e
}

// crossRules names the field to mend for the contract's rules that look at several.
var crossRules = map[string]string{
	"message.parts_of_role":                        "parts",
	"message.assistant_only":                       "role",
	"prune_tool_outputs.one_unit":                  "protect_groups",
	"create_session.request_id_needs_session_id":   "request_id",
	"append_messages.something":                    "messages",
	"inline_history.one_shape":                     "messages",
	"counted_messages.one_shape":                   "messages",
	"fork_session.request_id_needs_new_session_id": "request_id",
	"revert.message_or_summary":                    "message_from_future",
	"revert.focus_needs_summarize":                 "focus",
	"client_plan.does_something":                   "first_kept_index",
	"commit_compaction.one_text":                   "answers",
}

// shapes say in words what the contract's patterns of names demand.
var shapes = map[string]string{
	"^[!-~]{1,128}$":                 "must be 1 to 128 visible ASCII characters without spaces",
	"^[A-Za-z][A-Za-z0-9_.-]{0,63}$": "must be a name: a letter, then up to 63 letters, digits, _, . and -",
	"^[a-z][a-z0-9_]{0,63}$":         "must be a name: a small letter, then up to 63 small letters, digits and _",
}

// described says what is wrong with a field: the shape of a name in words, all else as the contract has it.
func described(v *protovalidate.Violation) string {
	if v.Proto.GetRuleId() == "string.pattern" && v.RuleValue.IsValid() {
		if words, known := shapes[v.RuleValue.String()]; known {
			return words
		}
	}
	return v.Proto.GetMessage()
}

func violatedField(v *protovalidate.Violation) string {
	path := protovalidate.FieldPathString(v.Proto.GetField())
	field, crosses := crossRules[v.Proto.GetRuleId()]
	switch {
	case !crosses:
		return path
	case path == "":
		return field
	default:
		return path + "." + field
	}
}

// The longest texts in a status, in bytes. Statuses travel in headers, and a header over a peer's limit ends the whole
// connection, other calls on it too.
const (
	maxFieldBytes       = 200
	maxDescriptionBytes = 300
	maxMessageBytes     = 2000
)

// short cuts a text that a client can have made long.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len(ellipsis)], "") + ellipsis
}

const ellipsis = "..."

// status makes the gRPC status of an error, with its details.
func (e *Error) status() *status.Status {
	st := status.New(e.Code, short(e.Message, maxMessageBytes))
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{
		Reason:   strings.TrimPrefix(e.Reason.String(), reasonPrefix),
		Domain:   Domain,
		Metadata: shortValues(e.Metadata),
	}}
	if len(e.Fields) > 0 {
		bad := &errdetails.BadRequest{}
		for _, f := range e.Fields {
			bad.FieldViolations = append(bad.FieldViolations,
				&errdetails.BadRequest_FieldViolation{
					Field: short(f.Field, maxFieldBytes), Description: short(f.Description, maxDescriptionBytes),
				})
		}
		details = append(details, bad)
	}
	if e.Code == codes.FailedPrecondition {
		details = append(details, &errdetails.PreconditionFailure{
			Violations: []*errdetails.PreconditionFailure_Violation{{
				Type:        strings.TrimPrefix(e.Reason.String(), reasonPrefix),
				Subject:     e.Metadata["session_id"],
				Description: short(e.Message, maxDescriptionBytes),
			}},
		})
	}
	if e.RetryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(e.RetryAfter)})
	}
	withDetails, err := st.WithDetails(details...)
	if err != nil {
		return st
	}
	return withDetails
}

func shortValues(metadata map[string]string) map[string]string {
	values := make(map[string]string, len(metadata))
	for key, value := range metadata {
		values[key] = short(value, maxFieldBytes)
	}
	return values
}

// GRPCStatus lets gRPC send an Error as it is.
func (e *Error) GRPCStatus() *status.Status { return e.status() }
