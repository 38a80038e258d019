package openairesponses_test

import (
	"testing"

	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/openairesponses"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	dialecttest.Run(t, openairesponses.New())
}
