package torture_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// bystanderOf is the variable of the environment that makes this program the bystander of the daemon at an address.
const bystanderOf = "COMPACTORD_TORTURE_BYSTANDER"

// thinks is how long the bystander thinks between two appends.
const thinks = 5 * time.Millisecond

// bystander is a client in a process of its own, so that what it feels is the daemon and not the attackers beside it.
type bystander struct {
	orders  *json.Encoder
	answers *json.Decoder
}

// order tells a bystander to append lines: so many at least, and for so long.
type order struct {
	Appends int
	Span    time.Duration
}

// bystander starts a client that appends to a session of its own, and ends with the test.
func (d *daemon) bystander(t *testing.T) *bystander {
	t.Helper()
	d.create(t, "bystander")
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), bystanderOf+"="+d.address)
	cmd.Stderr = os.Stderr
	orders, err := cmd.StdinPipe()
	require.NoError(t, err)
	answers, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = orders.Close()
		_ = cmd.Wait()
	})
	return &bystander{json.NewEncoder(orders), json.NewDecoder(answers)}
}

// watch has the bystander append lines for one phase, and returns how long each append took.
func (b *bystander) watch(t *testing.T, much effort) (took []time.Duration) {
	t.Helper()
	require.NoError(t, b.orders.Encode(order{Appends: much.appends, Span: much.span / time.Duration(much.phases)}))
	require.NoError(t, b.answers.Decode(&took))
	return took
}

// bystand is the program of a bystander. It carries out orders until there are no more.
func bystand(address string) error {
	conn, err := dial(address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	sessions := compactordv1.NewSessionServiceClient(conn)
	orders, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read an order: %w", err)
		}
		took, err := o.carryOut(sessions)
		if err != nil {
			return err
		}
		if err := answers.Encode(took); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
	}
}

func (o order) carryOut(sessions compactordv1.SessionServiceClient) (took []time.Duration, err error) {
	began := time.Now()
	for len(took) < o.Appends || time.Since(began) < o.Span {
		start := time.Now()
		_, err := sessions.AppendMessages(context.Background(), &compactordv1.AppendMessagesRequest{
			SessionId: "bystander", Messages: []*compactordv1.Message{said(fmt.Sprintf("line %d", len(took)))},
		})
		if err != nil {
			return nil, fmt.Errorf("append: %w", err)
		}
		took = append(took, time.Since(start))
		if o.Span > 0 {
			<-time.After(thinks)
		}
	}
	return took, nil
}
