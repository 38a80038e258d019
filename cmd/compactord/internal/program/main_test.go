package program_test

import (
	"os"
	"testing"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(loadedVariable); file != "" {
		os.Exit(loadedBy(file))
	}
	os.Exit(programtest.Main(m))
}
