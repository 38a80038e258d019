package service

import (
	"fmt"
	"time"

	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Error is an error of the API before it becomes a gRPC status: a code, a stable reason, and what a program can act on.
type Error struct {
	Code     codes.Code
	Reason   compactordv1.ErrorReason
	Message  string
	Metadata map[string]string
	// Fields are violations by field path, for INVALID_ARGUMENT.
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

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

func newError(
	code codes.Code, reason compactordv1.ErrorReason, metadata map[string]string, format string, args ...any,
) *Error {
	return &Error{Code: code, Reason: reason, Metadata: metadata, Message: fmt.Sprintf(format, args...)}
}

func invalidField(field, description string) *Error {
	return &Error{
		Code:    codes.InvalidArgument,
		Reason:  compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD,
		Message: field + ": " + description,
		Fields:  []FieldViolation{{Field: field, Description: description}},
	}
}

func notImplemented(field string) *Error {
	e := newError(codes.Unimplemented, compactordv1.ErrorReason_ERROR_REASON_NOT_IMPLEMENTED,
		map[string]string{"field": field}, "%s: this daemon does not do this yet", field)
	e.Fields = []FieldViolation{{Field: field, Description: "this daemon does not do this yet"}}
	return e
}

func sessionNotFound(id string) *Error {
	return newError(codes.NotFound, compactordv1.ErrorReason_ERROR_REASON_SESSION_NOT_FOUND,
		map[string]string{"session_id": id}, "no session %q", id)
}

func invalidToken(field string) *Error {
	return newError(codes.InvalidArgument, compactordv1.ErrorReason_ERROR_REASON_INVALID_TOKEN,
		map[string]string{"field": field}, "%s: not a token of this session that this daemon made", field)
}
