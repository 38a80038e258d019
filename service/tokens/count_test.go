package tokens_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/tokens"
)

// What is in no session is counted by CHARS4 unless another estimator is requested, and never by CALIBRATED.
func TestEstimatorWithoutASession(t *testing.T) {
	greeting := &compactordv1.Message{Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: "hello world"}}},
	}}
	for name, count := range map[string]func(compactordv1.Estimator) (*compactordv1.CountTokensResponse, error){
		"text": func(e compactordv1.Estimator) (*compactordv1.CountTokensResponse, error) {
			return tokens.OfText(t.Context(), e, "hello world")
		},
		"messages": func(e compactordv1.Estimator) (*compactordv1.CountTokensResponse, error) {
			return tokens.OfMessages(t.Context(), e, []*compactordv1.Message{greeting})
		},
	} {
		t.Run(name, func(t *testing.T) {
			for requested, counted := range map[compactordv1.Estimator]struct {
				by     compactordv1.Estimator
				tokens uint32
			}{
				compactordv1.Estimator_ESTIMATOR_UNSPECIFIED: {compactordv1.Estimator_ESTIMATOR_CHARS4, 3},
				compactordv1.Estimator_ESTIMATOR_CHARS4:      {compactordv1.Estimator_ESTIMATOR_CHARS4, 3},
				compactordv1.Estimator_ESTIMATOR_O200K_BASE:  {compactordv1.Estimator_ESTIMATOR_O200K_BASE, 2},
			} {
				answer, err := count(requested)
				require.NoError(t, err)
				require.Equal(t, counted.by, answer.GetEstimator())
				require.Equal(t, counted.tokens, answer.GetTokens())
			}
			_, err := count(compactordv1.Estimator_ESTIMATOR_CALIBRATED)
			var refused *apierror.Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD, refused.Reason)
			require.ErrorContains(t, err, "estimator: CALIBRATED needs a session")
		})
	}
}
