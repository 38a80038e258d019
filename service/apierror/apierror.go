// Package apierror has the errors of the API: a reason for programs, a text for people, and the gRPC status of both.
// The packages that implement calls return them. From converts the errors of the packages below.
package apierror

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Error is an error of the API before it becomes a gRPC status.
type Error struct {
	// Reason is stable. It also determines the status code.
	Reason compactordv1.ErrorReason
	// Message is for people.
	Message string
	// Metadata is for programs. error.proto documents its keys for each reason.
	Metadata map[string]string
	// Fields are the violations by field path, for an invalid request.
	Fields []FieldViolation
	// RetryAfter is the time after which a retry makes sense; 0 where that is not known.
	RetryAfter time.Duration
	// Cause is for the log only.
	Cause error
	// logged says that the cause was logged, under the id that the client gets.
	logged bool
	// noRoom says that the disk is full, so that a retry makes no sense.
	noRoom bool
}

// FieldViolation says what is wrong with a field.
type FieldViolation struct {
	Field       string
	Description string
}

// Error returns the text for people.
func (e *Error) Error() string { return e.Message }

// Kind is the name of the reason.
func (e *Error) Kind() string { return strings.TrimPrefix(e.Reason.String(), "ERROR_REASON_") }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New returns an error for a reason.
func New(reason compactordv1.ErrorReason, metadata map[string]string, format string, args ...any) *Error {
	return &Error{Reason: reason, Metadata: metadata, Message: fmt.Sprintf(format, args...)}
}

// Is says whether err is an Error with this reason.
func Is(err error, reason compactordv1.ErrorReason) bool {
	e := &Error{}
	return errors.As(err, &e) && e.Reason == reason
}

// IsSessionNotFound says whether err means that the session does not exist.
func IsSessionNotFound(err error) bool {
	return Is(err, compactordv1.ErrorReason_ERROR_REASON_SESSION_NOT_FOUND)
}

// InvalidField returns the error for an invalid field of the request.
func InvalidField(field, description string) *Error {
	return &Error{
		Reason:  compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD,
		Message: field + ": " + description,
		Fields:  []FieldViolation{{Field: field, Description: description}},
	}
}

// NotImplemented returns the error for a field whose value this daemon does not support.
func NotImplemented(field string) *Error {
	e := New(compactordv1.ErrorReason_ERROR_REASON_NOT_IMPLEMENTED,
		map[string]string{"field": field}, "%s: this daemon does not support this", field)
	e.Fields = []FieldViolation{{Field: field, Description: "this daemon does not support this"}}
	return e
}

// SessionNotFound returns the error for a session that does not exist.
func SessionNotFound(id string) *Error {
	return New(compactordv1.ErrorReason_ERROR_REASON_SESSION_NOT_FOUND,
		map[string]string{"session_id": id}, "no session %q", id)
}

// InvalidToken returns the error for a token that this daemon did not make, or not for this session.
func InvalidToken(field string) *Error {
	return New(compactordv1.ErrorReason_ERROR_REASON_INVALID_TOKEN,
		map[string]string{"field": field}, "%s: not a token of this session that this daemon made", field)
}

// PointOutOfRange returns the error for a point after the end of the log.
func PointOutOfRange(field string, point, last uint32) *Error {
	e := New(compactordv1.ErrorReason_ERROR_REASON_POINT_OUT_OF_RANGE,
		map[string]string{"point": strconv.FormatUint(uint64(point), 10), "last_point": strconv.FormatUint(uint64(last), 10)},
		"%s: the log ends at point %d", field, last)
	e.Fields = []FieldViolation{{Field: field, Description: fmt.Sprintf("the log ends at point %d", last)}}
	return e
}

// NoMessage returns the error for a log without a message at this index.
func NoMessage(index, next uint32) *Error {
	return New(compactordv1.ErrorReason_ERROR_REASON_CONTENT_NOT_FOUND,
		map[string]string{
			"index":      strconv.FormatUint(uint64(index), 10),
			"next_index": strconv.FormatUint(uint64(next), 10),
		},
		"the log has no message %d: the next one gets index %d", index, next)
}

// PutAside returns the error for a message that a revert has put aside.
func PutAside(index uint32) *Error {
	return New(compactordv1.ErrorReason_ERROR_REASON_MESSAGE_PUT_ASIDE,
		map[string]string{"index": strconv.FormatUint(uint64(index), 10)},
		"message %d was put aside by a revert: views do not show it", index)
}

// Within adds a prefix to the fields of an invalid request's error.
func Within(field string, err error) error {
	e := &Error{}
	if !errors.As(err, &e) || !e.refusesRequest() {
		return err
	}
	for i := range e.Fields {
		e.Fields[i].Field = field + "." + e.Fields[i].Field
	}
	e.Message = field + "." + e.Message
	return e
}
