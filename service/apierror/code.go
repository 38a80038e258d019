package apierror

import (
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// statusCodes has the gRPC code of each reason.
var statusCodes = map[compactordv1.ErrorReason]codes.Code{
	compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD:          codes.InvalidArgument,
	compactordv1.ErrorReason_ERROR_REASON_INVALID_POLICY:         codes.InvalidArgument,
	compactordv1.ErrorReason_ERROR_REASON_INVALID_TOKEN:          codes.InvalidArgument,
	compactordv1.ErrorReason_ERROR_REASON_UNKNOWN_NAME:           codes.InvalidArgument,
	compactordv1.ErrorReason_ERROR_REASON_INPUT_MALFORMED:        codes.InvalidArgument,
	compactordv1.ErrorReason_ERROR_REASON_POINT_OUT_OF_RANGE:     codes.InvalidArgument,
	compactordv1.ErrorReason_ERROR_REASON_REQUEST_ID_REUSED:      codes.InvalidArgument,
	compactordv1.ErrorReason_ERROR_REASON_SESSION_NOT_FOUND:      codes.NotFound,
	compactordv1.ErrorReason_ERROR_REASON_CHECKPOINT_NOT_FOUND:   codes.NotFound,
	compactordv1.ErrorReason_ERROR_REASON_OPERATION_NOT_FOUND:    codes.NotFound,
	compactordv1.ErrorReason_ERROR_REASON_CONTENT_NOT_FOUND:      codes.NotFound,
	compactordv1.ErrorReason_ERROR_REASON_SESSION_EXISTS:         codes.AlreadyExists,
	compactordv1.ErrorReason_ERROR_REASON_WRONG_NEXT_INDEX:       codes.Aborted,
	compactordv1.ErrorReason_ERROR_REASON_HISTORY_REVERTED:       codes.Aborted,
	compactordv1.ErrorReason_ERROR_REASON_STATE_CHANGED:          codes.Aborted,
	compactordv1.ErrorReason_ERROR_REASON_PLAN_INVALID:           codes.Aborted,
	compactordv1.ErrorReason_ERROR_REASON_COMPACTION_RUNNING:     codes.FailedPrecondition,
	compactordv1.ErrorReason_ERROR_REASON_TARGET_UNREACHABLE:     codes.FailedPrecondition,
	compactordv1.ErrorReason_ERROR_REASON_BREAKER_OPEN:           codes.FailedPrecondition,
	compactordv1.ErrorReason_ERROR_REASON_TOOL_CALLS_OPEN:        codes.FailedPrecondition,
	compactordv1.ErrorReason_ERROR_REASON_VIEW_INVALID:           codes.FailedPrecondition,
	compactordv1.ErrorReason_ERROR_REASON_SUMMARY_REJECTED:       codes.FailedPrecondition,
	compactordv1.ErrorReason_ERROR_REASON_SUMMARIZER_REFUSED:     codes.FailedPrecondition,
	compactordv1.ErrorReason_ERROR_REASON_CHECKPOINT_PUT_ASIDE:   codes.FailedPrecondition,
	compactordv1.ErrorReason_ERROR_REASON_NOTHING_TO_REVERT:      codes.FailedPrecondition,
	compactordv1.ErrorReason_ERROR_REASON_MESSAGE_PUT_ASIDE:      codes.FailedPrecondition,
	compactordv1.ErrorReason_ERROR_REASON_SYNC_CONFLICT:          codes.Aborted,
	compactordv1.ErrorReason_ERROR_REASON_CHILD_ENDED:            codes.FailedPrecondition,
	compactordv1.ErrorReason_ERROR_REASON_NO_PARENT:              codes.FailedPrecondition,
	compactordv1.ErrorReason_ERROR_REASON_HAS_CHILDREN:           codes.FailedPrecondition,
	compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED:         codes.ResourceExhausted,
	compactordv1.ErrorReason_ERROR_REASON_WATCHER_TOO_SLOW:       codes.ResourceExhausted,
	compactordv1.ErrorReason_ERROR_REASON_SLOW_READER:            codes.ResourceExhausted,
	compactordv1.ErrorReason_ERROR_REASON_MEMORY_EXHAUSTED:       codes.ResourceExhausted,
	compactordv1.ErrorReason_ERROR_REASON_TOO_MANY_WAITING:       codes.ResourceExhausted,
	compactordv1.ErrorReason_ERROR_REASON_SUMMARIZER_UNAVAILABLE: codes.Unavailable,
	compactordv1.ErrorReason_ERROR_REASON_SHUTTING_DOWN:          codes.Unavailable,
	compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED:            codes.Unavailable,
	compactordv1.ErrorReason_ERROR_REASON_STORE_UNAVAILABLE:      codes.Unavailable,
	compactordv1.ErrorReason_ERROR_REASON_CANCELLED:              codes.Canceled,
	compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED:      codes.DeadlineExceeded,
	compactordv1.ErrorReason_ERROR_REASON_NOT_IMPLEMENTED:        codes.Unimplemented,
	compactordv1.ErrorReason_ERROR_REASON_UNAUTHENTICATED:        codes.Unauthenticated,
	compactordv1.ErrorReason_ERROR_REASON_PERMISSION_DENIED:      codes.PermissionDenied,
	compactordv1.ErrorReason_ERROR_REASON_STORE_CORRUPT:          codes.DataLoss,
	compactordv1.ErrorReason_ERROR_REASON_INTERNAL:               codes.Internal,
}

// Code returns the gRPC code of a reason.
func Code(reason compactordv1.ErrorReason) codes.Code {
	if code, known := statusCodes[reason]; known {
		return code
	}
	return codes.Internal
}

// Code returns the gRPC code of the error.
func (e *Error) Code() codes.Code {
	if e.noRoom {
		return codes.ResourceExhausted
	}
	return Code(e.Reason)
}

// refusesRequest says that the request itself is invalid, whatever the state of the daemon.
func (e *Error) refusesRequest() bool { return e.Code() == codes.InvalidArgument }
