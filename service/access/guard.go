package access

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/compactord/compactord/service/access/jwt"
)

// DefaultInterval is how often a Guard looks whether its files have changed and tokens have expired.
const DefaultInterval = time.Second

// Options configure a Guard.
type Options struct {
	// Files are where the tokens come from.
	Files []File
	// JWT says which JWTs are accepted beside them; nil for none.
	JWT     *JWT
	Logger  *slog.Logger
	Metrics prometheus.Registerer
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// Interval replaces DefaultInterval.
	Interval time.Duration
}

// Guard knows the tokens that are accepted. It is safe for concurrent use.
type Guard struct {
	files    []*watchedFile
	logger   *slog.Logger
	now      func() time.Time
	interval time.Duration
	// asked has a value after LookNow.
	asked chan struct{}

	refused *prometheus.CounterVec
	failing *prometheus.GaugeVec

	// seed makes the places of tokens in a table unknown outside of this process. So nobody can choose tokens for their
	// places, and the time of a look-up tells nothing about the hashes that are accepted.
	seed maphash.Seed
	// grants is replaced as a whole, by New and then by Run.
	grants atomic.Pointer[table]
	// jwts is nil where no JWTs are accepted.
	jwts *jwts
}

// table has the grants by place. Almost always, a place has one.
type table map[uint64][]*grant

// at returns the grant of a hash among those at its place; nil where there is none. It takes the same time for each hash.
func (t table) at(place uint64, hash Hash) (found *grant) {
	for _, granted := range t[place] {
		if subtle.ConstantTimeCompare(granted.hash[:], hash[:]) == 1 {
			found = granted
		}
	}
	return found
}

// all yields every grant.
func (t table) all(yield func(*grant) bool) {
	for _, grants := range t {
		for _, granted := range grants {
			if !yield(granted) {
				return
			}
		}
	}
}

// grant is an accepted token while it is accepted.
type grant struct {
	hash  Hash
	entry atomic.Pointer[Entry]
	// of is where the grant of a JWT is kept while it has a stream, and claims what the JWT claims. Both are nil for others.
	of     *jwts
	claims *jwt.Claims

	mu sync.Mutex
	// ended says that the token was withdrawn or has expired.
	ended bool
	// streams end with the grant.
	streams map[*stream]struct{}
}

// stream is a stream that a grant has admitted.
type stream struct{ end func() }

// admitStream calls end when the grant ends, unless leave is called before.
func (g *grant) admitStream(end func()) (leave func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		end()
		return func() {}
	}
	s := &stream{end}
	g.streams[s] = struct{}{}
	g.of.open(g)
	return func() {
		g.of.close(g)
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.streams, s)
	}
}

// end ends the grant and its streams.
func (g *grant) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	for s := range g.streams {
		s.end()
	}
	clear(g.streams)
}

func (g *grant) hasEnded() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended
}

func newGrant(e Entry) *grant {
	g := &grant{hash: e.Hash, streams: make(map[*stream]struct{})}
	g.entry.Store(&e)
	return g
}

// The reasons for which calls are refused, in the metric.
const (
	reasonMissing = "missing"
	reasonWrong   = "wrong"
	reasonExpired = "expired"
	reasonRole    = "role"
)

// New returns a guard that has read its files. The error names every file that cannot be used. The caller must call Run,
// which notices what changes.
func New(o Options) (*Guard, error) {
	g := &Guard{logger: o.Logger, now: o.Now, interval: o.Interval, asked: make(chan struct{}, 1), seed: maphash.MakeSeed()}
	if g.now == nil {
		g.now = time.Now
	}
	if g.interval == 0 {
		g.interval = DefaultInterval
	}
	g.refused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "compactord_access_refused_total",
		Help: "Calls that were refused for their token, by reason.",
	}, []string{"reason"})
	for _, reason := range []string{reasonMissing, reasonWrong, reasonExpired, reasonRole} {
		g.refused.WithLabelValues(reason)
	}
	g.failing = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "compactord_tokens_failing",
		Help: "1 while a file of tokens, or the keys of JWTs, cannot be used and what was there before applies, by flag.",
	}, []string{"flag"})
	for _, collector := range []prometheus.Collector{g.refused, g.failing} {
		if err := o.Metrics.Register(collector); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	var problems []error
	for _, f := range o.Files {
		watched := &watchedFile{File: f}
		g.files = append(g.files, watched)
		g.failing.WithLabelValues(f.Flag).Set(0)
		if err := watched.load(); err != nil {
			problems = append(problems, fmt.Errorf("--%s: %s: %w", f.Flag, f.Path, err))
		}
	}
	if o.JWT != nil {
		var err error
		if g.jwts, err = newJWTs(o.JWT, g.now, o.Logger, g.failing.WithLabelValues(jwtFlag)); err != nil {
			problems = append(problems, err)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	g.apply()
	return g, nil
}

// place returns where a token with this hash is in a table.
func (g *Guard) place(hash Hash) uint64 { return maphash.Bytes(g.seed, hash[:]) }

// find returns the grant of a token; nil where it is not accepted, with the reason for the metric.
func (g *Guard) find(ctx context.Context, token string) (found *grant, reason string) {
	hash, err := HashOf(token)
	if err != nil {
		if g.jwts == nil || !LooksLikeJWT(token) {
			return nil, reasonWrong
		}
		return g.jwts.find(ctx, token)
	}
	if found = g.grants.Load().at(g.place(hash), hash); found == nil {
		return nil, reasonWrong
	}
	if found.entry.Load().expired(g.now()) {
		return nil, reasonExpired
	}
	return found, ""
}

// apply makes the tokens of the files those that are accepted. A token that stays keeps its streams, unless it has
// another subject or tenant, or a lower role now.
func (g *Guard) apply() {
	old := table{}
	if before := g.grants.Load(); before != nil {
		old = *before
	}
	next := make(table)
	for _, f := range g.files {
		for _, e := range f.entries {
			place := g.place(e.Hash)
			if next.at(place, e.Hash) != nil {
				// Another file has the token too; the first one counts.
				continue
			}
			next[place] = append(next[place], old.at(place, e.Hash).renewed(e))
		}
	}
	g.grants.Store(&next)
	for before := range old.all {
		if next.at(g.place(before.hash), before.hash) != before {
			before.end()
		}
	}
}

// renewed returns the grant with what is said of its token now, or another one.
func (g *grant) renewed(e Entry) *grant {
	if g == nil || g.hasEnded() {
		return newGrant(e)
	}
	if was := g.entry.Load(); was.Subject != e.Subject || was.Tenant != e.Tenant || was.Role > e.Role {
		return newGrant(e)
	}
	g.entry.Store(&e)
	return g
}

// endExpired ends the streams of tokens that have expired.
func (g *Guard) endExpired() {
	now := g.now()
	for granted := range g.grants.Load().all {
		if granted.entry.Load().expired(now) {
			granted.end()
		}
	}
	g.jwts.endWithdrawn(now)
}

// settling is how long a file that changed shortly before LookNow must stay the same.
const settling = 100 * time.Millisecond

// LookNow has Run look at the files at once, and again shortly after: whoever writes a file has time to write it whole.
func (g *Guard) LookNow() {
	select {
	case g.asked <- struct{}{}:
	default:
	}
	if g.jwts != nil {
		g.jwts.verifier.LookNow()
	}
}

// Run looks at the files, and ends the streams of tokens that are accepted no more, until the context ends.
func (g *Guard) Run(ctx context.Context) {
	if g.jwts != nil {
		var keys sync.WaitGroup
		defer keys.Wait()
		keys.Go(func() { g.jwts.verifier.Run(ctx) })
	}
	ticker := time.NewTicker(g.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.asked:
			g.look(ctx)
			ticker.Reset(min(settling, g.interval))
		case <-ticker.C:
			g.look(ctx)
			ticker.Reset(g.interval)
		}
	}
}

// look is one look at the files and the clock.
func (g *Guard) look(ctx context.Context) {
	changed := false
	for _, f := range g.files {
		if !f.settled() {
			continue
		}
		if err := f.load(); err != nil {
			g.failing.WithLabelValues(f.Flag).Set(1)
			g.logger.ErrorContext(ctx, "tokens were not read again; those before apply", "flag", "--"+f.Flag, "file", f.Path, "error", err)
			continue
		}
		g.failing.WithLabelValues(f.Flag).Set(0)
		g.logger.InfoContext(ctx, "tokens were read again", "flag", "--"+f.Flag, "file", f.Path, "tokens", len(f.entries))
		changed = true
	}
	if changed {
		g.apply()
	}
	g.endExpired()
}
