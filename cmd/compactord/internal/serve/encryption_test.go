package serve_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/compactord/compactord/cmd/compactord/internal/certificates/certificatestest"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/storage/anystore"
)

func signed(a *certificatestest.Authority, serial int64) certificatestest.Pair {
	return a.Sign(serial, time.Now().Add(time.Hour))
}

func TestCommandsSpeakTLS(t *testing.T) {
	for name, listen := range map[string]string{
		"tcp":  "127.0.0.1:0",
		"unix": "unix:" + filepath.Join(t.TempDir(), "d.sock"),
	} {
		t.Run(name, func(t *testing.T) {
			a, clients := certificatestest.NewAuthority(t), certificatestest.NewAuthority(t)
			pair, own := signed(a, 1), signed(clients, 2)
			d := programtest.Serving(t, "--listen", listen, "--store", anystore.Place(t),
				"--tls-cert", pair.Cert, "--tls-key", pair.Key, "--tls-client-ca", clients.Path)
			list := func(args ...string) programtest.Answer {
				return programtest.Ran(t, append([]string{"sessions", "--addr", d.Addr}, args...)...)
			}
			require.Equal(t, "There are no sessions.\n",
				list("--tls-ca", a.Path, "--client-cert", own.Cert, "--client-key", own.Key).Ends(t, terminal.ExitDone).Out)
			list().Ends(t, terminal.ExitFailed).Says(t, "compactord: the daemon at "+d.Addr+" speaks TLS, and this command did not\nUse --tls, or --tls-ca")
			t.Setenv("COMPACTORD_TOKEN", access.NewToken())
			list("--tls-ca", a.Path, "--client-cert", own.Cert, "--client-key", own.Key).Ends(t, terminal.ExitFailed).Says(t, "UNAUTHENTICATED")
			require.NoError(t, os.Unsetenv("COMPACTORD_TOKEN"))
			list("--tls-ca", a.Path).Ends(t, terminal.ExitFailed).Says(t, "certificate")
			list("--tls-ca", clients.Path, "--client-cert", own.Cert, "--client-key", own.Key).Ends(t, terminal.ExitFailed).
				Says(t, "certificate signed by unknown authority").Says(t, "\nGive --tls-ca with the certificate of the authority")
			t.Setenv("COMPACTORD_TLS_CA", a.Path)
			t.Setenv("COMPACTORD_CLIENT_CERT", own.Cert)
			t.Setenv("COMPACTORD_CLIENT_KEY", own.Key)
			for _, args := range [][]string{{"strategies"}, {"summarizers"}, {"classify", "--text", "prompt is too long: 201000 tokens > 200000 maximum"}} {
				programtest.Ran(t, append(args, "--addr", d.Addr)...).Ends(t, terminal.ExitDone)
			}
		})
	}
}

func TestTLSToADaemonWithout(t *testing.T) {
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
	for _, args := range [][]string{{"sessions"}, {"healthcheck"}, {"compact", "--session", "s"}} {
		programtest.Ran(t, append(args, "--tls", "--addr", d.Addr)...).Ends(t, terminal.ExitFailed).
			Says(t, "compactord: the daemon at "+d.Addr+" does not speak TLS\nLeave out --tls, --tls-ca and --client-cert, and unset COMPACTORD_TLS,")
	}
}

func TestWrongFlagsOfTLS(t *testing.T) {
	a := certificatestest.NewAuthority(t)
	pair, other := signed(a, 1), signed(a, 2)
	for _, c := range []struct {
		args []string
		says string
		code int
	}{
		{[]string{"serve", "--tls-cert", pair.Cert}, "--tls-cert: needs --tls-key, its private key", terminal.ExitUsage},
		{[]string{"serve", "--tls-key", pair.Key}, "--tls-key: needs --tls-cert, the certificate of this key", terminal.ExitUsage},
		{[]string{"serve", "--tls-client-ca", a.Path}, "--tls-client-ca: needs --tls-cert and --tls-key", terminal.ExitUsage},
		{[]string{"serve", "--tls-cert", pair.Cert, "--tls-key", other.Key}, "--tls-cert: " + pair.Cert + " and ", terminal.ExitUsage},
		{[]string{"sessions", "--client-cert", pair.Cert}, "--client-cert and --client-key go together", terminal.ExitUsage},
		{[]string{"sessions", "--client-cert", pair.Cert, "--client-key", pair.Key}, "--client-cert: needs --tls or --tls-ca", terminal.ExitUsage},
		{[]string{"sessions", "--tls-ca", pair.Key}, "--tls-ca: " + pair.Key + ": there is a PRIVATE KEY among", terminal.ExitUsage},
		{[]string{"sessions", "--tls", "--client-cert", pair.Cert, "--client-key", other.Key}, "--client-cert: ", terminal.ExitUsage},
	} {
		if c.args[0] == "serve" {
			c.args = append(c.args, "--store", anystore.Place(t), "--listen", "127.0.0.1:0")
		}
		programtest.Ran(t, c.args...).Ends(t, c.code).Says(t, c.says)
	}
}

// Each client connects anew for each call, while certificates and the authorities of clients are renewed.
func TestNoCallFailsWhileCertificatesAreRenewed(t *testing.T) {
	const clients, renewals, callsBetween = 4, 20, 5
	a := certificatestest.NewAuthority(t)
	pair, own := signed(a, 1), signed(a, 2)
	authorities := filepath.Join(t.TempDir(), "clients.pem")
	certificatestest.Replace(t, authorities, a.Path)
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t),
		"--tls-cert", pair.Cert, "--tls-key", pair.Key, "--tls-client-ca", authorities)
	encrypted := credentials.NewTLS(a.ClientConfig(own))
	call := func() error {
		conn, err := grpc.NewClient(d.Addr, grpc.WithTransportCredentials(encrypted))
		if err != nil {
			return err
		}
		_, err = healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
		if err != nil {
			_ = conn.Close()
			return err
		}
		return conn.Close()
	}
	called := make(chan struct{})
	done := make(chan struct{})
	var group errgroup.Group
	for range clients {
		group.Go(func() error {
			for {
				if err := call(); err != nil {
					return err
				}
				select {
				case called <- struct{}{}:
				case <-done:
					return nil
				}
			}
		})
	}
	for i := range renewals {
		renewed := signed(a, int64(100+i))
		certificatestest.Replace(t, pair.Cert, renewed.Cert)
		for range callsBetween {
			<-called
		}
		certificatestest.Replace(t, pair.Key, renewed.Key)
		certificatestest.Replace(t, authorities, a.Path)
		for range callsBetween {
			<-called
		}
	}
	close(done)
	require.NoError(t, group.Wait())
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.Contains(t, d.Log.String(), "certificates read again")
	require.Contains(t, d.Log.String(), "the last good ones stay in use")
}
