package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The server ends a statement, a wait for a lock and an idle transaction after a time, which the URL can change.
func TestTimeoutsOfTheServer(t *testing.T) {
	for name, usual := range map[string]string{
		"statement_timeout": "30s", "lock_timeout": "10s", "idle_in_transaction_session_timeout": "30s",
	} {
		config, err := poolConfig("postgres://u@127.0.0.1/d")
		require.NoError(t, err)
		require.Equal(t, usual, config.ConnConfig.RuntimeParams[name])
		config, err = poolConfig("postgres://u@127.0.0.1/d?" + name + "=7s")
		require.NoError(t, err)
		require.Equal(t, "7s", config.ConnConfig.RuntimeParams[name])
	}
}
