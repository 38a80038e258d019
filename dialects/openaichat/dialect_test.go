package openaichat_test

import (
	"testing"

	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/openaichat"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	dialecttest.Run(t, openaichat.New())
}
