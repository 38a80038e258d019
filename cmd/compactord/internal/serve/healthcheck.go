package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service"
)

// HealthCheck is `compactord healthcheck`.
type HealthCheck struct {
	Addr string `env:"COMPACTORD_ADDR" help:"Address of the daemon (default: ${default_addr})." placeholder:"HOST:PORT|unix:PATH"`
	api.Encryption
	Writes  bool          `help:"Ask whether it takes writes, too."`
	Timeout time.Duration `default:"5s" help:"How long to wait for the answer (default: ${default})." placeholder:"TIME"`
}

// Help is printed below the flags.
func (c *HealthCheck) Help() string {
	return `The exit code is 0 if the daemon serves, and 1 if it stops, does not answer in time, or does not run. With --writes it
is 1 also while the store refuses writes, such as on a full disk. So containers and supervisors can ask without another
program.`
}

// Validate returns what is wrong with the flags.
func (c *HealthCheck) Validate() error {
	if c.Timeout <= 0 {
		return terminal.Usagef("--timeout: must be above 0")
	}
	return nil
}

// Run asks the daemon.
func (c *HealthCheck) Run(ctx context.Context, a *api.App) (err error) {
	client, err := a.DialHealth(c.Addr, c.Encryption)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	asked := &healthv1.HealthCheckRequest{}
	serves, refuses := "serves", "is stopping"
	if c.Writes {
		asked.Service = service.WritesService
		serves, refuses = "takes writes", "takes no writes: it is stopping, or its log says why the store refuses them"
	}
	answer, err := client.Health.Check(limited, asked)
	if err != nil {
		return err
	}
	if answer.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		return fmt.Errorf("the daemon at %s %s", client.Address, refuses)
	}
	fmt.Fprintf(a.Out, "The daemon at %s %s.\n", client.Address, serves)
	return nil
}
