package policyfile

import (
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// maxBytes is more than a policy may have, in whatever way it is written.
const maxBytes = 8 << 20

// Read reads the policy in a file of YAML, which JSON is too. It returns every problem with it.
func Read(path string) (*compactordv1.Policy, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, terminal.Unreadable(path, err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return nil, terminal.Unreadable(path, err)
	}
	if len(text) > maxBytes {
		return nil, fmt.Errorf("%s has more than %s bytes", path, terminal.Number(maxBytes))
	}
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		return nil, fmt.Errorf("%s is neither YAML nor JSON: %w", path, err)
	}
	policy, problems := Decode("policy", value)
	for i, problem := range problems {
		problems[i] = fmt.Errorf("%s: %w", path, problem)
	}
	return policy, errors.Join(problems...)
}
