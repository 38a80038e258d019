package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/compactord/compactord/service/access/jwt"
	"github.com/compactord/compactord/service/trusted"
)

const (
	privateMode = 0o600
	// maxTokenFile is more than a file of one token has.
	maxTokenFile = jwt.MaxTokenBytes + 4<<10
)

// MakeTokenFile makes a token in a file that only its owner can read, unless there is the file. It appears as a whole:
// whoever reads it at the same time finds the token, or no file.
func MakeTokenFile(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	whole, err := writeBeside(path, NewToken()+"\n")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(whole) }()
	// A link replaces no file. Another daemon may have made the file meanwhile; then its token is used.
	err = os.Link(whole, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	// The file system knows no links.
	return os.Rename(whole, path)
}

// writeBeside writes a new private file in the folder of path, and returns its name.
func writeBeside(path, content string) (name string, err error) {
	// CreateTemp opens with O_EXCL and this mode.
	file, err := os.CreateTemp(filepath.Dir(path), ".token-*")
	if err != nil {
		return "", err
	}
	defer func() {
		if closing := file.Close(); err == nil {
			err = closing
		}
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	if err := file.Chmod(privateMode); err != nil && runtime.GOOS != "windows" {
		return "", err
	}
	if _, err := file.WriteString(content); err != nil {
		return "", err
	}
	return file.Name(), file.Sync()
}

// holdsNoToken reports whether a file that others can read is known to hold no token.
func holdsNoToken(path string) bool {
	content, err := trusted.Read(path, maxTokenFile)
	if err != nil {
		return false
	}
	token := strings.TrimSpace(string(content))
	_, err = HashOf(token)
	return err != nil && !LooksLikeJWT(token)
}

// ReadTokenFile returns the token in a file, also a JWT. It refuses a file that others can read or change. No error quotes the file.
func ReadTokenFile(path string) (string, error) {
	content, err := trusted.ReadPrivate(path, maxTokenFile)
	switch {
	case errors.Is(err, trusted.ErrExposed) && holdsNoToken(path):
		// Nothing is to be changed about the file of somebody else.
		return "", fmt.Errorf("it holds no token: %w", ErrNoToken)
	case errors.Is(err, trusted.ErrExposed):
		return "", fmt.Errorf("%w, and if others may have read it, remove it, so that the next daemon makes another token", err)
	case err != nil:
		return "", err
	}
	token := strings.TrimSpace(string(content))
	if _, err := HashOf(token); err != nil && !LooksLikeJWT(token) {
		return "", fmt.Errorf("it holds no token: %w", err)
	}
	return token, nil
}
