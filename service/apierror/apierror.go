// Package apierror has the errors of the API: a reason that programs can act on, a text for people, and the gRPC status
// that both become. All packages that carry out calls return these; what comes from the packages below them From maps.
package apierror

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Error is an error of the API before it becomes a gRPC status.
type Error struct {
	// Reason is stable. It decides the status code, too.
	Reason compactordv1.ErrorReason
	// Message is for people.
	Message string
	// Metadata is what a program can act on, by names that error.proto documents with each reason.
	Metadata map[string]string
	// Fields are violations by field path, for what is wrong with a request.
	Fields []FieldViolation
	// RetryAfter is when it makes sense to try again; 0 where nobody knows.
	RetryAfter time.Duration
	// Cause is for the log only.
	Cause error
	// logged says that the log has the cause, under the id that the client gets.
	logged bool
}

// FieldViolation says what is wrong with a field.
type FieldViolation struct {
	Field       string
	Description string
}

// Error returns the text for people.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New returns an error for a reason.
func New(reason compactordv1.ErrorReason, metadata map[string]string, format string, args ...any) *Error {
	return &Error{Reason: reason, Metadata: metadata, Message: fmt.Sprintf(format, args...)}
}

// Is says whether an error is one of the API for this reason.
func Is(err error, reason compactordv1.ErrorReason) bool {
	e := &Error{}
	return errors.As(err, &e) && e.Reason == reason
}

// IsSessionNotFound says whether an error is that there is no such session.
func IsSessionNotFound(err error) bool {
	return Is(err, compactordv1.ErrorReason_ERROR_REASON_SESSION_NOT_FOUND)
}

// InvalidField says what is wrong with a field of the request.
func InvalidField(field, description string) *Error {
	return &Error{
		Reason:  compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD,
		Message: field + ": " + description,
		Fields:  []FieldViolation{{Field: field, Description: description}},
	}
}

// NotImplemented refuses a field that asks for what this daemon does not do.
func NotImplemented(field string) *Error {
	e := New(compactordv1.ErrorReason_ERROR_REASON_NOT_IMPLEMENTED,
		map[string]string{"field": field}, "%s: this daemon does not do this yet", field)
	e.Fields = []FieldViolation{{Field: field, Description: "this daemon does not do this yet"}}
	return e
}

// SessionNotFound says that there is no session by this id.
func SessionNotFound(id string) *Error {
	return New(compactordv1.ErrorReason_ERROR_REASON_SESSION_NOT_FOUND,
		map[string]string{"session_id": id}, "no session %q", id)
}

// InvalidToken refuses a token that this daemon did not make, or made for another session.
func InvalidToken(field string) *Error {
	return New(compactordv1.ErrorReason_ERROR_REASON_INVALID_TOKEN,
		map[string]string{"field": field}, "%s: not a token of this session that this daemon made", field)
}

// PointOutOfRange refuses a point behind the last one of a log.
func PointOutOfRange(field string, point, last uint32) *Error {
	e := New(compactordv1.ErrorReason_ERROR_REASON_POINT_OUT_OF_RANGE,
		map[string]string{"point": strconv.FormatUint(uint64(point), 10), "last_point": strconv.FormatUint(uint64(last), 10)},
		"%s: the log ends at point %d", field, last)
	e.Fields = []FieldViolation{{Field: field, Description: fmt.Sprintf("the log ends at point %d", last)}}
	return e
}

// NoMessage says that a log has no message with this index.
func NoMessage(index, next uint32) *Error {
	return New(compactordv1.ErrorReason_ERROR_REASON_CONTENT_NOT_FOUND,
		map[string]string{
			"index":      strconv.FormatUint(uint64(index), 10),
			"next_index": strconv.FormatUint(uint64(next), 10),
		},
		"the log has no message %d: the next one gets index %d", index, next)
}

// PutAside refuses a message that a revert has put aside.
func PutAside(index uint32) *Error {
	return New(compactordv1.ErrorReason_ERROR_REASON_MESSAGE_PUT_ASIDE,
		map[string]string{"index": strconv.FormatUint(uint64(index), 10)},
		"message %d was put aside by a revert: views do not show it", index)
}

// Within puts the fields of an error under a field of the request.
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
