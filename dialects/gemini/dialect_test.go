package gemini_test

import (
	"testing"

	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/gemini"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	dialecttest.Run(t, gemini.New())
}
