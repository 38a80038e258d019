package api

import (
	"errors"
	"fmt"
	"os"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/trusted"
	"github.com/compactord/compactord/storage/keyring"
)

// StoreKeys holds the flags that name the keys of an encrypted store. The keys themselves are no setting, so that nothing
// prints them.
type StoreKeys struct {
	StoreKeys    string `name:"store-keys" env:"COMPACTORD_STORE_KEYS" help:"File with the keys of an encrypted store." placeholder:"PATH" type:"path"`
	StoreKeysEnv string `name:"store-keys-env" env:"COMPACTORD_STORE_KEYS_ENV" help:"Variable of the environment with the keys of an encrypted store." placeholder:"NAME"`
}

// maxKeysBytes is more than any list of keys has.
const maxKeysBytes = 64 << 10

// errTwoSources means that the keys of a store were named twice.
var errTwoSources = errors.New("--store-keys and --store-keys-env exclude each other: all keys of a store stand in one place")

// Read returns the keys; nil where none are named.
func (k StoreKeys) Read() (*keyring.Ring, error) {
	switch {
	case k.StoreKeys != "" && k.StoreKeysEnv != "":
		return nil, errTwoSources
	case k.StoreKeys != "":
		return keysFromFile(k.StoreKeys)
	case k.StoreKeysEnv != "":
		text, set := os.LookupEnv(k.StoreKeysEnv)
		if !set {
			return nil, errors.New("the environment has no variable with the name that --store-keys-env gives")
		}
		ring, err := keyring.Parse([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("the variable %s: %w", k.StoreKeysEnv, err)
		}
		return ring, nil
	default:
		return nil, nil
	}
}

func keysFromFile(path string) (*keyring.Ring, error) {
	text, err := trusted.ReadSecret(path, maxKeysBytes+1)
	if err != nil {
		return nil, terminal.Unreadable(path, err)
	}
	if len(text) > maxKeysBytes {
		return nil, fmt.Errorf("the file %s is too large for keys", path)
	}
	ring, err := keyring.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the file %s: %w", path, err)
	}
	return ring, nil
}

// Ring is Read for a command, whose error is one of usage.
func (k StoreKeys) Ring() (*keyring.Ring, error) {
	ring, err := k.Read()
	if err != nil {
		return nil, terminal.Usagef("the keys of the store: %w", err)
	}
	return ring, nil
}
