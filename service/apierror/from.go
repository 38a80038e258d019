package apierror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// sentinels are errors of other packages with their reasons. text replaces the error's own text, which can contain
// paths of the file system. Where it is empty, the error's own is sent.
var sentinels = []struct {
	err    error
	reason compactordv1.ErrorReason
	text   string
}{
	{
		storage.ErrNotFound, compactordv1.ErrorReason_ERROR_REASON_SESSION_NOT_FOUND,
		"the session was deleted meanwhile",
	},
	{
		storage.ErrExists, compactordv1.ErrorReason_ERROR_REASON_SESSION_EXISTS,
		"the session exists already",
	},
	{
		storage.ErrConflict, compactordv1.ErrorReason_ERROR_REASON_STATE_CHANGED,
		"the session kept changing: try again",
	},
	{
		storage.ErrClosed, compactordv1.ErrorReason_ERROR_REASON_SHUTTING_DOWN,
		"the daemon is shutting down",
	},
	{
		storage.ErrFull, compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
		"the store is full; nothing was written",
	},
	{
		storage.ErrCorrupt, compactordv1.ErrorReason_ERROR_REASON_STORE_CORRUPT,
		"the store is damaged; `compactord check` shows where",
	},
	{
		session.ErrUnknownRecord, compactordv1.ErrorReason_ERROR_REASON_STORE_CORRUPT,
		"the store holds a record of a newer daemon",
	},
	{session.ErrEstimator, compactordv1.ErrorReason_ERROR_REASON_NOT_IMPLEMENTED, ""},
	{strategies.ErrPolicy, compactordv1.ErrorReason_ERROR_REASON_INVALID_POLICY, ""},
	{session.ErrToken, compactordv1.ErrorReason_ERROR_REASON_INVALID_TOKEN, ""},
	{strategies.ErrUnknown, compactordv1.ErrorReason_ERROR_REASON_UNKNOWN_NAME, ""},
	{strategies.ErrNotImplemented, compactordv1.ErrorReason_ERROR_REASON_NOT_IMPLEMENTED, ""},
	{strategies.ErrInvalidPlan, compactordv1.ErrorReason_ERROR_REASON_PLAN_INVALID, ""},
	{summarizers.ErrUnknown, compactordv1.ErrorReason_ERROR_REASON_UNKNOWN_NAME, ""},
	{ErrShuttingDown, compactordv1.ErrorReason_ERROR_REASON_SHUTTING_DOWN, ""},
	{ErrPreempted, compactordv1.ErrorReason_ERROR_REASON_CANCELLED, ""},
	{ErrCancelled, compactordv1.ErrorReason_ERROR_REASON_CANCELLED, ""},
	{ErrTakenForDead, compactordv1.ErrorReason_ERROR_REASON_CANCELLED, ""},
	{ErrDeleted, compactordv1.ErrorReason_ERROR_REASON_CANCELLED, ""},
	{
		context.Canceled, compactordv1.ErrorReason_ERROR_REASON_CANCELLED,
		"the call was cancelled",
	},
	{
		context.DeadlineExceeded, compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED,
		"the deadline has passed",
	},
}

// retryUnavailableAfter is the RetryAfter while the daemon stops: a supervisor usually starts it again within seconds.
const retryUnavailableAfter = 5 * time.Second

// From converts any error to an Error. An error without a conversion is a bug: its text is replaced by internalID.
func From(err error, internalID string) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var violations *protovalidate.ValidationError
	if errors.As(err, &violations) {
		return fromViolations(violations)
	}
	var late *DeadlineError
	if errors.As(err, &late) {
		e := New(compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED,
			map[string]string{"deadline": late.Whose}, "%s", late.text)
		e.Cause = err
		return e
	}
	if e := fromDisk(err); e != nil {
		return e
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			e = &Error{Reason: s.reason, Message: cmp.Or(s.text, err.Error()), Cause: err}
			if e.Code() == codes.Unavailable {
				e.RetryAfter = retryUnavailableAfter
			}
			if errors.Is(err, storage.ErrFull) {
				e.Metadata = map[string]string{"limit": "store_size"}
			}
			var damaged *storage.DamagedError
			if errors.As(err, &damaged) {
				e.Message = fmt.Sprintf("the stored data of session %q is damaged; `compactord check` shows where", damaged.SessionID)
				e.Metadata = map[string]string{"session_id": damaged.SessionID}
			}
			var policy *strategies.PolicyError
			if errors.As(err, &policy) {
				e.Metadata = map[string]string{"field": policy.Field}
				e.Fields = []FieldViolation{{Field: policy.Field, Description: policy.What}}
			}
			return e
		}
	}
	return &Error{
		Reason:  compactordv1.ErrorReason_ERROR_REASON_INTERNAL,
		Message: BugMessage(internalID),
		Cause:   err,
	}
}

// fromDisk converts an error of the disk under the store; nil for any other error.
func fromDisk(err error) *Error {
	var disk *storage.DiskError
	e := &Error{Reason: compactordv1.ErrorReason_ERROR_REASON_STORE_UNAVAILABLE, Cause: err}
	switch {
	case errors.Is(err, storage.ErrLost):
		e.Message, e.Metadata = "the store is lost; the daemon ends", map[string]string{"cause": "lost"}
	case errors.As(err, &disk):
		e.Message = diskMessages[disk.Cause]
		e.Metadata = map[string]string{"cause": string(disk.Cause)}
		e.noRoom = disk.Full()
		if disk.Cause == storage.DiskLow {
			e.Metadata["limit"] = limitOfRoom
		}
	case errors.Is(err, storage.ErrDisk):
		e.Message, e.Metadata = diskMessages[storage.DiskBroken], map[string]string{"cause": string(storage.DiskBroken)}
	default:
		return nil
	}
	if !e.noRoom || disk.Cause == storage.DiskLow {
		// Room is often made without anybody who looks at this error.
		e.RetryAfter = retryUnavailableAfter
	}
	return e
}

// limitOfRoom is the name of the setting by which the daemon refuses writes before the disk is full.
const limitOfRoom = "min_free_bytes"

// diskMessages are the texts for people. Those of the system can contain paths.
var diskMessages = map[storage.DiskCause]string{
	storage.DiskFull:        "the disk of the store is full; nothing was written, and sessions can be deleted",
	storage.QuotaUsedUp:     "the quota of the store's user is used up; nothing was written, and sessions can be deleted",
	storage.FileTooLarge:    "the file of the store has the largest size that is allowed; nothing was written, and sessions can be deleted",
	storage.DiskLow:         "the disk of the store has less room than " + limitOfRoom + "; nothing was written, and sessions can be deleted",
	storage.DiskReadOnly:    "the file system of the store is read-only; nothing was written",
	storage.DiskUnreachable: "the database of the store does not answer; a write may or may not have been done",
	storage.DiskBroken:      "the disk of the store failed",
}

// BugMessage returns the text for a bug, with the id under which it was logged.
func BugMessage(id string) string {
	return "internal error " + id + ": this is a bug, please report it with this id; the log tells more under it"
}
