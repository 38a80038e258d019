package load

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const appendBytes = 2000

// bare is a plain bbolt file on the same disk.
type bare struct {
	b    *testing.B
	db   *bbolt.DB
	next uint64
}

var bareBucket = []byte("b")

func startBare(b *testing.B) *bare {
	b.Helper()
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, &bbolt.Options{
		FreelistType: bbolt.FreelistMapType, NoFreelistSync: true,
	})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, db.Close()) })
	require.NoError(b, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(bareBucket)
		return err
	}))
	return &bare{b: b, db: db}
}

// put writes a value in a transaction of its own.
func (s *bare) put(value []byte) {
	if err := s.db.Update(s.putting(value)); err != nil {
		s.b.Fatal(err)
	}
}

func (s *bare) putting(value []byte) func(tx *bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		s.next++
		return tx.Bucket(bareBucket).Put(binary.BigEndian.AppendUint64(nil, s.next), value)
	}
}

// BenchmarkAppend is an append of one message of 2 kB: beside an echo of it and a bare transaction with the same bytes, and
// as a provider's JSON beside a neutral message.
func BenchmarkAppend(b *testing.B) {
	d, e, s := start(b), startEcho(b), startBare(b)
	d.create("s", nil)
	payload := make([]byte, appendBytes)
	m := user(prose(appendBytes))
	plain := func() { d.append("s", m) }
	b.Run("kB=2/base=echo+bbolt", func(b *testing.B) {
		beside(b, 1.3, func() { e.bytes(payload); s.put(payload) }, plain)
		d.allocations(b, plain)
	})
	for kind, list := range map[compactordv1.Dialect]any{
		compactordv1.Dialect_DIALECT_OPENAI_CHAT:      said,
		compactordv1.Dialect_DIALECT_OPENAI_RESPONSES: said,
		compactordv1.Dialect_DIALECT_ANTHROPIC:        said,
		compactordv1.Dialect_DIALECT_GEMINI: map[string]any{
			"role": "user", "parts": []any{map[string]any{"text": prose(appendBytes)}},
		},
	} {
		b.Run(fmt.Sprintf("kB=2/dialect=%s/base=neutral", nameOf(kind)), func(b *testing.B) {
			raw, err := json.Marshal(list)
			require.NoError(b, err)
			d.create(nameOf(kind), nil)
			ours := func() { d.appendJSON(nameOf(kind), kind, string(raw)) }
			beside(b, 1.2, plain, ours)
			d.allocations(b, ours)
		})
	}
}

// said is the message in the three dialects that write it alike.
var said = map[string]any{"role": "user", "content": prose(appendBytes)}

func (d *daemon) appendJSON(id string, kind compactordv1.Dialect, raw string) {
	_, err := d.sessions.AppendMessages(d.b.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: id, ProviderJson: &compactordv1.ProviderJson{Dialect: kind, Json: raw},
	})
	if err != nil {
		d.b.Fatal(err)
	}
}

// BenchmarkAppendTogether are appends of 64 clients to 64 sessions, beside 64 goroutines that each send the same bytes to an
// echo and put them by bbolt's batches. The figures are times for one append.
func BenchmarkAppendTogether(b *testing.B) {
	const clients = 64
	d, e, s := start(b), startEcho(b), startBare(b)
	payload, m := make([]byte, appendBytes), user(prose(appendBytes))
	for i := range clients {
		d.create(fmt.Sprint(i), nil)
	}
	together := func(call func(client int)) func() {
		return func() {
			const each = 4
			var wg sync.WaitGroup
			for client := range clients {
				wg.Go(func() {
					for range each {
						call(client)
					}
				})
			}
			wg.Wait()
		}
	}
	ours := together(func(client int) { d.append(fmt.Sprint(client), m) })
	batch := func(int) {
		if err := s.db.Batch(s.putting(payload)); err != nil {
			b.Error(err)
		}
	}
	s.db.MaxBatchDelay = bestDelay(s, together(batch))
	b.Run("kB=2/clients=64/base=echo+batch", func(b *testing.B) {
		beside(b, 1.25, together(func(client int) { e.bytes(payload); batch(client) }), ours)
		d.allocations(b, ours)
	})
}

// bestDelay returns the delay with which bbolt's batches are fastest.
func bestDelay(s *bare, call func()) (best time.Duration) {
	least := time.Hour
	for _, delay := range []time.Duration{0, 200 * time.Microsecond, time.Millisecond, 5 * time.Millisecond} {
		var took samples
		s.db.MaxBatchDelay = delay
		for range 10 {
			took.time(call)
		}
		if median := took.percentile(50); median < least {
			best, least = delay, median
		}
	}
	return best
}

// BenchmarkTurn is a turn of an agent: the delta that it sends to the model, the model's answer with what it used, and a
// tool's result, beside the echoes and writes that this consists of.
func BenchmarkTurn(b *testing.B) {
	d, e, s := start(b), startEcho(b), startBare(b)
	const kind = compactordv1.Dialect_DIALECT_ANTHROPIC
	payload := make([]byte, appendBytes)
	d.create("s", nil, conversation(viewBytes)...)
	token := d.view("s", kind).GetViewToken()
	number := 1_000_000
	ours := func() {
		number++
		turn := reading(number, 2*appendBytes)
		turn[1].Usage = &compactordv1.Usage{InputTokens: 200_000, OutputTokens: 20}
		d.append("s", turn[0])
		token = d.delta("s", kind, token).GetViewToken()
		answer, err := d.sessions.AppendMessages(b.Context(), &compactordv1.AppendMessagesRequest{
			SessionId: "s", Messages: turn[1:2], ViewToken: token,
		})
		if err != nil {
			b.Fatal(err)
		}
		_ = answer.GetReport()
		d.append("s", turn[2])
		token = d.delta("s", kind, token).GetViewToken()
	}
	base := func() {
		for range 3 {
			e.bytes(payload)
			s.put(payload)
		}
		e.bytes(payload)
		e.bytes(payload)
	}
	b.Run("kB=800/dialect=anthropic/base=3_echo+bbolt,2_echo", func(b *testing.B) {
		beside(b, 2, base, ours)
		d.allocations(b, ours)
	})
}
