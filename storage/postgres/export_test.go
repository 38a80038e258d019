package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// OpenTraced opens a store whose statements a test sees.
func OpenTraced(ctx context.Context, url string, tracer pgx.QueryTracer) (*Store, error) {
	config, err := poolConfig(url)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.Tracer = tracer
	return open(ctx, config, false)
}

// ForgetStatement forgets old requests.
var ForgetStatement = forgetStatement
