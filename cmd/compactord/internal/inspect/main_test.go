package inspect_test

import (
	"os"
	"testing"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
)

func TestMain(m *testing.M) { os.Exit(programtest.Main(m)) }
