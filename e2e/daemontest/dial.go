package daemontest

import (
	"os"
	"path/filepath"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/compactord/compactord/service/access"
)

// KeepState has the programs that a test starts keep in a folder what they keep by default, such as the token of daemons.
func KeepState(folder string) error {
	for _, name := range []string{access.TokenVariable, access.TokenFileVariable} {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return os.Setenv("XDG_STATE_HOME", filepath.Join(folder, "state"))
}

// Token returns the token that a daemon in a process of its own has made.
func Token(address string) (string, error) { return access.Find("", address, false) }

// Dial returns a connection to a daemon in a process of its own, with the token that it has made.
func Dial(address string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	token, err := Token(address)
	if err != nil {
		return nil, err
	}
	return grpc.NewClient(address, append(options,
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(access.Bearer(token)))...)
}
