package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// spentFile keeps what tenants have used of the models today, in a file beside the store. Its name is the path.
type spentFile string

// spentBeside returns the file beside a store.
func spentBeside(store string) spentFile { return spentFile(store + ".spent") }

// Load returns the content of the file; nil where there is none.
func (f spentFile) Load() ([]byte, error) {
	content, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

// Save replaces the file. A process that is killed leaves the old one or the new one.
func (f spentFile) Save(content []byte) error {
	beside := string(f) + ".new"
	if err := os.WriteFile(beside, content, 0o600); err != nil {
		return err
	}
	return os.Rename(beside, string(f))
}

// unreadable adds what to do to the error of a file that cannot be used.
func (f spentFile) unreadable(err error) error {
	return terminal.Advise(fmt.Errorf("%s: %w", string(f), err),
		"It has what tenants used of the models today. Without the file, the day begins anew.")
}
