package anthropic_test

import (
	"testing"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialecttest"
)

func TestDialect(t *testing.T) { dialecttest.Run(t, anthropic.New()) }
