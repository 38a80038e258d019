package apierror

import (
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Domain is the domain of google.rpc.ErrorInfo in every error.
const Domain = "compactord"

// ReasonName returns a reason without the prefix of the enum, as in statuses and logs.
func ReasonName(reason compactordv1.ErrorReason) string {
	return strings.TrimPrefix(reason.String(), "ERROR_REASON_")
}

// The longest texts in a status, in bytes. Statuses are sent in headers, and a header that is too long for the peer
// ends the whole connection with all its calls.
const (
	maxFieldBytes       = 200
	maxDescriptionBytes = 300
	maxMessageBytes     = 2000
)

// short cuts a text at most bytes. Clients can make texts long.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len(ellipsis)], "") + ellipsis
}

const ellipsis = "..."

// GRPCStatus returns the gRPC status with its details.
func (e *Error) GRPCStatus() *status.Status {
	st := status.New(e.Code(), short(e.Message, maxMessageBytes))
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{
		Reason:   ReasonName(e.Reason),
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
	if e.Code() == codes.FailedPrecondition {
		details = append(details, &errdetails.PreconditionFailure{
			Violations: []*errdetails.PreconditionFailure_Violation{{
				Type:        ReasonName(e.Reason),
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
