package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestClientModelLoop holds the loop of docs/client-model.md to the program that shows it. `go test ./e2e -run
// ClientModelLoop -update` writes it.
func TestClientModelLoop(t *testing.T) {
	_, loop, found := strings.Cut(document(t, "examples/clientmodel/compact.go"), "// model asks")
	require.True(t, found)
	generated(t, "docs/client-model.md", "loop", "```go\n// model asks"+strings.TrimRight(loop, "\n")+"\n```\n")
}
