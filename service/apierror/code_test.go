package apierror_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// A reason without a code would be sent as a bug.
func TestEveryReasonHasACode(t *testing.T) {
	for number, name := range compactordv1.ErrorReason_name {
		reason := compactordv1.ErrorReason(number)
		switch reason {
		case compactordv1.ErrorReason_ERROR_REASON_UNSPECIFIED, compactordv1.ErrorReason_ERROR_REASON_INTERNAL:
			require.Equal(t, codes.Internal, apierror.Code(reason))
		default:
			require.NotEqual(t, codes.Internal, apierror.Code(reason), name)
		}
	}
}
