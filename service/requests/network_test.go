package requests_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
)

// network is what is between a client and the server.
type network struct {
	encrypted bool
	// delay is how long each packet is on its way, and packet its size; 0: none, and any.
	delay  time.Duration
	packet int
}

// buffered is how many bytes a client can write before the network takes them. Writers that wait for the network hold
// locks, and a fake clock stands still while others wait for these.
const buffered = 4 << 20

// around returns the client's end of a connection over the network. carriers are the goroutines that carry its packets.
func (n network) around(ctx context.Context, far net.Conn, carriers *sync.WaitGroup) (net.Conn, error) {
	if n.packet == 0 {
		return far, nil
	}
	link := bufconn.Listen(buffered)
	carriers.Go(func() {
		middle, err := link.Accept()
		if err != nil {
			return
		}
		carriers.Go(func() { n.carry(far, middle) })
		n.carry(middle, far)
	})
	return link.DialContext(ctx)
}

// carry passes packets on, one after the other, until one side closes.
func (n network) carry(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	packet := make([]byte, n.packet)
	for {
		size, err := from.Read(packet)
		if err != nil {
			return
		}
		<-time.After(n.delay)
		if _, err := to.Write(packet[:size]); err != nil {
			return
		}
	}
}

// encryption returns the settings of a server and a client that trust each other.
func encryption(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"daemon"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(1000 * time.Hour),
	}
	der, err := x509.CreateCertificate(nil, template, template, public, private)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	trusted := x509.NewCertPool()
	trusted.AddCert(certificate)
	protocols := []string{"h2"}
	server = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}},
		NextProtos:   protocols, MinVersion: tls.VersionTLS13,
	}
	return server, &tls.Config{RootCAs: trusted, ServerName: "daemon", NextProtos: protocols, MinVersion: tls.VersionTLS13}
}

// networks are all networks, by name.
var networks = map[string]network{
	"encrypted":          {encrypted: true},
	"slow":               {delay: 10 * time.Millisecond, packet: 1 << 10},
	"slow and encrypted": {delay: 10 * time.Millisecond, packet: 1 << 10, encrypted: true},
	"far away":           {delay: 300 * time.Millisecond, packet: 64 << 10},
}

// Requests of all sizes arrive whole over any network, in about the time that their packets take, and nothing stays
// reserved.
func TestRequestsArriveOverNetworks(t *testing.T) {
	t.Parallel()
	for name, n := range networks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := serveOver(t, n)
				client := s.connect()
				var group errgroup.Group
				total := 0
				began := time.Now()
				for _, size := range []int{1, 4 << 10, 65 << 10, 600 << 10, 1 << 20} {
					total += size
					group.Go(func() error {
						answer, err := client.AppendMessages(t.Context(), appending(string(bytes.Repeat([]byte("x"), size))))
						if err == nil {
							assert.Equal(t, uint32(size), answer.GetNextIndex())
						}
						return err
					})
				}
				require.NoError(t, group.Wait())
				require.Zero(t, s.reserved())
				if n.packet > 0 {
					least := time.Duration(total/n.packet) * n.delay
					require.LessOrEqual(t, time.Since(began), 3*least+20*n.delay)
				}
			})
		})
	}
}

// A request that stops to arrive is ended after a minute over any network.
func TestRequestThatStopsOverNetworks(t *testing.T) {
	t.Parallel()
	wire, err := proto.Marshal(appending("x"))
	require.NoError(t, err)
	for name, n := range networks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := serveOver(t, n)
				stops, whole := s.attack().append(), s.attack().append()
				stops.announce(1 << 20)
				_, err := stops.Write(make([]byte, 100<<10))
				require.NoError(t, err)
				whole.announce(uint32(len(wire)))
				_, err = whole.Write(wire)
				require.NoError(t, err)
				require.NoError(t, whole.Close())
				require.Equal(t, codes.OK, <-whole.status)
				<-time.After(50 * time.Second)
				synctest.Wait()
				require.Empty(t, stops.status)
				require.Positive(t, s.reserved())
				<-time.After(time.Minute)
				synctest.Wait()
				require.Equal(t, codes.DeadlineExceeded, <-stops.status)
				require.Zero(t, s.reserved())
			})
		})
	}
}

// dial connects to a server over its network, without encryption.
func (s *server) dial(ctx context.Context, _ string) (net.Conn, error) {
	conn, err := s.listener.DialContext(ctx)
	if err != nil {
		return nil, err
	}
	return s.network.around(ctx, conn, &s.carriers)
}
