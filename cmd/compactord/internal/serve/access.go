package serve

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/trusted"
)

// guard returns what decides who may call. It makes the token of who runs the daemon.
func (c *Command) guard(metrics prometheus.Registerer, logger *slog.Logger) (*access.Guard, error) {
	var files []access.File
	if c.TokenFile != "" {
		if err := c.makeToken(); err != nil {
			return nil, err
		}
		files = append(files, access.OwnToken("token-file", c.TokenFile))
	}
	if c.Tokens != "" {
		files = append(files, access.File{Flag: "tokens", Path: c.Tokens, Read: readTokens})
	}
	guard, err := access.New(access.Options{Files: files, JWT: c.file.JWT(), Logger: logger, Metrics: metrics})
	if err != nil {
		return nil, terminal.AsUsage(err)
	}
	return guard, nil
}

// makeToken makes the token of who runs the daemon, unless there is one.
func (c *Command) makeToken() error {
	// Create only the folder of the default: another path may be a typing error.
	if c.TokenFile == access.DefaultTokenFile() {
		if err := os.MkdirAll(filepath.Dir(c.TokenFile), 0o700); err != nil {
			return fmt.Errorf("cannot make the folder of the token: %w", err)
		}
	}
	if err := access.MakeTokenFile(c.TokenFile); err != nil {
		return terminal.Advise(fmt.Errorf("cannot make the token %s: %w", c.TokenFile, cause(err)),
			"Name a place that can be written with --token-file.")
	}
	return nil
}

// readTokens reads the tokens of other clients.
func readTokens(path string) ([]access.Entry, error) {
	// One byte more shows that the file is too large.
	content, err := trusted.Read(path, access.MaxTokensBytes+1)
	if err != nil {
		return nil, err
	}
	return access.ParseTokens(content)
}

// accessText says in the log who may call.
func (c *Command) accessText() string {
	if c.NoAuth {
		return "whoever can connect"
	}
	var ways []string
	if c.TokenFile != "" {
		ways = append(ways, "the token of "+c.TokenFile)
	}
	if c.Tokens != "" {
		ways = append(ways, "the tokens of "+c.Tokens)
	}
	if of := c.file.JWT(); of != nil {
		ways = append(ways, "JWTs of "+of.Issuer)
	}
	return strings.Join(ways, " and ")
}
