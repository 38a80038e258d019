package postgres

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// connectTimeout is how long the program tries to connect, where the URL does not say it.
	connectTimeout = 5 * time.Second
	// commitTimeout is how long a commit waits for its answer. A statement and a wait for a lock end before, by timeouts of
	// the server.
	commitTimeout = 60 * time.Second
	// pingTimeout is how long a small statement may take.
	pingTimeout = 5 * time.Second
)

// timeouts are the settings of a session of the server, where the URL does not give them.
var timeouts = map[string]string{
	"statement_timeout":                   "30s",
	"lock_timeout":                        "10s",
	"idle_in_transaction_session_timeout": "30s",
}

// errURL is an error without the URL, which may have a password.
var errURL = errors.New("this is not the URL of a PostgreSQL database: it is like postgres://USER@HOST:5432/DATABASE?sslmode=verify-full")

// poolConfig returns the configuration of the pool.
func poolConfig(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errURL
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	for name, value := range timeouts {
		if _, given := config.ConnConfig.RuntimeParams[name]; !given {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	if _, given := config.ConnConfig.RuntimeParams["application_name"]; !given {
		config.ConnConfig.RuntimeParams["application_name"] = "compactord"
	}
	return config, nil
}
