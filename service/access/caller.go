package access

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"google.golang.org/grpc/credentials"
)

// The variables of the environment in which a caller finds a token, or the file of one.
const (
	TokenVariable     = "COMPACTORD_TOKEN"
	TokenFileVariable = "COMPACTORD_TOKEN_FILE"
)

// ErrPlaintext says that a token would be sent where others on the way could read it.
var ErrPlaintext = errors.New("without encryption, others on the way could read the token")

// Find returns the token for the daemon at an address, HOST:PORT or unix:PATH: that in the file, if one is named, else that
// of COMPACTORD_TOKEN, of the file that COMPACTORD_TOKEN_FILE names, or of DefaultTokenFile. It is empty where there is
// none. The error is ErrPlaintext where other machines can be reached by the address and the connection is not encrypted.
// The default place, whose token is for daemons of this machine, is not looked at for others.
func Find(file, address string, encrypted bool) (string, error) {
	found, err := Look(file, address, encrypted)
	return found.Token, err
}

// Found is a token, and the place where it was found.
type Found struct {
	// Token is empty where there is none.
	Token string
	// Place is the name of a variable of the environment, or the path of a file. Where there is no token, it is the file that
	// does not exist; empty where none was looked for.
	Place string
}

// Look is Find, and says where the token is from.
func Look(file, address string, encrypted bool) (Found, error) {
	text := os.Getenv(TokenVariable)
	if file != "" {
		text = ""
	} else if text == "" {
		file = os.Getenv(TokenFileVariable)
	}
	switch local := Local(address); {
	case text == "" && file == "":
		if file = DefaultTokenFile(); file == "" || !local {
			return Found{}, nil
		}
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return Found{Place: file}, nil
		}
	case !local && !encrypted:
		return Found{}, ErrPlaintext
	case text != "":
		text = strings.TrimSpace(text)
		if _, err := HashOf(text); err != nil && !LooksLikeJWT(text) {
			return Found{}, fmt.Errorf("%s: %w", TokenVariable, err)
		}
		return Found{text, TokenVariable}, nil
	}
	token, err := ReadTokenFile(file)
	if err != nil {
		return Found{}, fmt.Errorf("the file of the token, %s: %w", file, err)
	}
	return Found{token, file}, nil
}

// Local says whether only this machine can reach an address, HOST:PORT or unix:PATH. Of names, only localhost counts as
// local: what others resolve to may change.
func Local(address string) bool {
	if strings.HasPrefix(address, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Bearer returns credentials that send a token with each call, and nothing where it is empty. Find knows which addresses
// it may be sent to.
func Bearer(token string) credentials.PerRPCCredentials { return bearer(token) }

type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	if b == "" {
		return nil, nil
	}
	return map[string]string{header: "Bearer " + string(b)}, nil
}

func (b bearer) RequireTransportSecurity() bool { return false }

// DefaultTokenFile returns where a daemon makes its token, and its callers look for it. All daemons of a user share it, so
// that callers need only an address. It is empty where the user has no home folder.
func DefaultTokenFile() string {
	folder := StateFolder()
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "token")
}

// StateFolder returns the folder of what a daemon keeps by default, under $XDG_STATE_HOME or the system's equivalent. It
// is empty where the user has no home folder.
func StateFolder() string {
	base := os.Getenv("XDG_STATE_HOME")
	if base == "" {
		base = stateHome()
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, "compactord")
}

func stateHome() string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		// These systems have no folder for state beside the one for settings.
		folder, err := os.UserConfigDir()
		if err != nil {
			return ""
		}
		return folder
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state")
}
